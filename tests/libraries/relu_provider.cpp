// A provider for ONNX Runtime that computes Relu, and parts that it has compiled to the same, by the functions that
// plug-in libraries have. RELU_PROVIDER says otherwise what it does when it is registered: `dies`, `wants-newer`,
// `has-no-device`; or when a session is made with it: `dies-late`.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace {

struct Factory;
struct Ep;
struct ComputeInfo;
using Status = void*;  // null: it succeeded
using Object = void;

struct ApiBase {
  const void* const* (*get_api)(uint32_t version);
  const char* (*get_version)();
};

// What the library calls of ONNX Runtime, by places in its tables of version 1.23.
constexpr uint32_t kVersion = 23;
constexpr size_t kCreateStatus = 0, kMutableData = 51, kElementCount = 64, kTensorInfo = 65, kInput = 90, kOutput = 91;
constexpr size_t kReleaseInfo = 99, kRank = 61, kDims = 62, kDeviceType = 307, kEpApi = 317, kNodeCount = 344;
constexpr size_t kNodes = 345, kOperatorType = 350;
constexpr size_t kCreateDevice = 0, kAddNodes = 2;  // of the second table
const void* const* api = nullptr;
const void* const* ep_api = nullptr;

template <typename Result, typename... Args>
Result call(const void* const* table, size_t place, Args... args) {
  return reinterpret_cast<Result (*)(Args...)>(const_cast<void*>(table[place]))(args...);
}

// The members of version 1.23, of which those that are not needed stay null.
struct Factory {
  uint32_t version;
  const char* (*name)(const Factory*);
  const char* (*vendor)(const Factory*);
  Status (*devices)(Factory*, const Object* const*, size_t, Object**, size_t, size_t*);
  Status (*create)(Factory*, const Object* const*, const Object* const*, size_t, const Object*, const Object*, Ep**);
  void (*release)(Factory*, Ep*);
  uint32_t (*vendor_id)(const Factory*);
  const char* (*own_version)(const Factory*);
  void* validate;
  void* create_allocator;
  void* release_allocator;
  Status (*create_transfer)(Factory*, Object**);
  bool (*is_stream_aware)(const Factory*);
  void* create_stream;
};

struct Ep {
  uint32_t version;
  const char* (*name)(const Ep*);
  Status (*capability)(Ep*, const Object*, Object*);
  Status (*compile)(Ep*, const Object**, const Object**, size_t, ComputeInfo**, Object**);
  void (*release)(Ep*, ComputeInfo**, size_t);
  void* others[8];
};

struct ComputeInfo {
  uint32_t version;
  Status (*create)(ComputeInfo*, Object*, void**);
  Status (*compute)(ComputeInfo*, void*, Object*);
  void (*release)(ComputeInfo*, void*);
};

bool is_told(std::string_view word) {
  const char* const told = std::getenv("RELU_PROVIDER");
  return told != nullptr && word == told;
}

Status no_transfer(Factory*, Object** transfer) {
  *transfer = nullptr;
  return nullptr;
}

const char* factory_name(const Factory*) { return "ReluProvider"; }
const char* ep_name(const Ep*) { return "ReluProvider"; }

Status no_state(ComputeInfo*, Object*, void** state) {
  *state = nullptr;
  return nullptr;
}

Status compute(ComputeInfo*, void*, Object* context) {
  const Object* input = nullptr;
  Object* info = nullptr;
  size_t rank = 0;
  size_t count = 0;
  call<Status>(api, kInput, static_cast<const Object*>(context), size_t{0}, &input);
  call<Status>(api, kTensorInfo, input, &info);
  call<Status>(api, kRank, static_cast<const Object*>(info), &rank);
  std::vector<int64_t> dims(rank);
  call<Status>(api, kDims, static_cast<const Object*>(info), dims.data(), rank);
  call<Status>(api, kElementCount, static_cast<const Object*>(info), &count);
  call<void>(api, kReleaseInfo, info);
  Object* output = nullptr;
  call<Status>(api, kOutput, context, size_t{0}, static_cast<const int64_t*>(dims.data()), rank, &output);
  void* from = nullptr;
  void* to = nullptr;
  call<Status>(api, kMutableData, const_cast<Object*>(input), &from);
  call<Status>(api, kMutableData, output, &to);
  const float* const values = static_cast<const float*>(from);
  for (size_t i = 0; i < count; ++i) static_cast<float*>(to)[i] = std::max(values[i], 0.0F);
  return nullptr;
}

Status capability(Ep*, const Object* graph, Object* support) {
  size_t count = 0;
  call<Status>(api, kNodeCount, graph, &count);
  std::vector<const Object*> nodes(count);
  call<Status>(api, kNodes, graph, nodes.data(), count);
  for (const Object* const node : nodes) {
    const char* op = nullptr;
    call<Status>(api, kOperatorType, node, &op);
    if (std::string_view(op) != "Relu" && std::string_view(op) != "EPContext") continue;
    const void* const options = nullptr;
    if (const Status failed =
            call<Status>(ep_api, kAddNodes, support, static_cast<const Object* const*>(&node), size_t{1}, options))
      return failed;
  }
  return nullptr;
}

Status compile(Ep*, const Object**, const Object**, size_t count, ComputeInfo** infos, Object**) {
  for (size_t i = 0; i < count; ++i)
    infos[i] = new ComputeInfo{kVersion, no_state, compute, [](ComputeInfo*, void*) {}};
  return nullptr;
}

void release_infos(Ep*, ComputeInfo** infos, size_t count) {
  for (size_t i = 0; i < count; ++i) delete infos[i];
}

Status devices(Factory* factory, const Object* const* all, size_t count, Object** found, size_t most, size_t* made) {
  constexpr int kProcessor = 0;
  *made = 0;
  if (is_told("has-no-device")) return nullptr;
  for (size_t i = 0; i < count && *made < most; ++i) {
    if (call<int>(api, kDeviceType, all[i]) != kProcessor) continue;
    const Object* const none = nullptr;
    if (const Status failed = call<Status>(ep_api, kCreateDevice, factory, all[i], none, none, &found[*made]))
      return failed;
    ++*made;
  }
  return nullptr;
}

Status create_ep(Factory*, const Object* const*, const Object* const*, size_t, const Object*, const Object*, Ep** ep) {
  if (is_told("dies-late")) std::abort();
  *ep = new Ep{kVersion, ep_name, capability, compile, release_infos, {}};
  return nullptr;
}

}  // namespace

extern "C" Status CreateEpFactories(const char*, const ApiBase* base, const Object*, Factory** factories, size_t,
                                    size_t* count) {
  if (is_told("dies")) std::abort();
  constexpr int kFailed = 1;
  if (is_told("wants-newer") && base->get_api(kVersion + 1000) == nullptr)
    return call<Status>(base->get_api(1), kCreateStatus, kFailed, "ReluProvider needs version 1023 of the interface");
  api = base->get_api(kVersion);
  ep_api = call<const void* const*>(api, kEpApi);
  factories[0] = new Factory{kVersion,
                             factory_name,
                             factory_name,
                             devices,
                             create_ep,
                             [](Factory*, Ep* ep) { delete ep; },
                             [](const Factory*) -> uint32_t { return 0; },
                             [](const Factory*) -> const char* { return "1.0.0"; },
                             nullptr,
                             nullptr,
                             nullptr,
                             no_transfer,
                             [](const Factory*) { return false; },
                             nullptr};
  *count = 1;
  return nullptr;
}

extern "C" Status ReleaseEpFactory(Factory* factory) {
  delete factory;
  return nullptr;
}
