#include "engine/devices/cuda/nccl/library.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/error.h"
#include "base/foreign_code.h"
#include "base/text.h"
#include "exec/foreign_library.h"

namespace assay::engine::cuda::nccl {
namespace {

constexpr int kLeastVersion = 21800, kFirstUnknown = 30000;  // 2.18.0, 3.0.0

// The number of ncclDataType_t; nullopt: it has none.
std::optional<int> number_of(tensor::DType dtype) {
  using tensor::DType;
  static constexpr std::array kTypes = {DType::int8,   DType::uint8,   DType::int32,   DType::uint32,  DType::int64,
                                        DType::uint64, DType::float16, DType::float32, DType::float64, DType::bfloat16};
  const auto found = std::ranges::find(kTypes, dtype);
  return found == kTypes.end() ? std::nullopt : std::optional(static_cast<int>(found - kTypes.begin()));
}

// The number of ncclRedOp_t.
int number_of_reduction(std::string_view word) {
  static constexpr std::array<std::string_view, 5> kWords = {"sum", "prod", "max", "min", "avg"};
  return static_cast<int>(std::ranges::find(kWords, word) - kWords.begin());
}

}  // namespace

const exec::LibraryKind& Library::kind() {
  static const exec::LibraryKind kind = {
      .variable = "ASSAY_NCCL",
      .wheel_files = {"nvidia/nccl/lib/libnccl.so.2*", "nvidia/cu13/lib/libnccl.so.2*"},
      .distribution = "nvidia_nccl_cu*",
      .system_names = {"libnccl.so.2", "libnccl.so.2.*"},
      .loader_name = "libnccl.so.2",
      .title = "NCCL",
      .hint = "`pip install nvidia-nccl-cu13` brings one"};
  return kind;
}

const Library* Library::find(const exec::LibrarySearch& search, std::string& reason) {
  // On shared machines, multicast can take cards out of service. NCCL reads this when it is opened.
  ::setenv("NCCL_NVLS_ENABLE", "0", 1);
  return exec::find_opened_library<Library>(kind(), search, reason);
}

Library::Library(SharedLibrary library) : library_(std::move(library)) {
  exec::load_function(kind(), library_, api_.version, "ncclGetVersion");
  exec::load_function(kind(), library_, api_.init_all, "ncclCommInitAll");
  exec::load_function(kind(), library_, api_.destroy, "ncclCommDestroy");
  exec::load_function(kind(), library_, api_.error_text, "ncclGetErrorString");
  exec::load_function(kind(), library_, api_.all_reduce, "ncclAllReduce");
  exec::load_function(kind(), library_, api_.reduce_scatter, "ncclReduceScatter");
  exec::load_function(kind(), library_, api_.all_gather, "ncclAllGather");
  exec::load_function(kind(), library_, api_.broadcast, "ncclBroadcast");
  check(api_.version(&version_), "its version");
  if (version_ >= kLeastVersion && version_ < kFirstUnknown) return;
  fail(ErrorCode::backend, "`{}` is NCCL {}; from 2.18 on and before 3 is needed", printable(path().string()),
       version());
}

std::string Library::version() const {
  return fmt::format("{}.{}.{}", version_ / 10000, version_ / 100 % 100, version_ % 100);
}

void Library::check(Result result, std::string_view what) const {
  if (result != 0) fail(ErrorCode::backend, "NCCL refuses {} ({})", what, api_.error_text(result));
}

bool Library::takes(std::string_view operation, tensor::DType dtype) {
  static constexpr std::array<std::string_view, 6> kOperations = {"all_reduce", "reduce", "reduce_scatter",
                                                                  "all_gather", "gather", "broadcast"};
  return number_of(dtype) && std::ranges::find(kOperations, operation) != kOperations.end();
}

void Library::add(std::string_view operation, const Work& work, Communicator communicator, Stream stream) const {
  const ForeignCode code("NCCL");
  const void* const from = reinterpret_cast<const void*>(work.from);
  void* const to = reinterpret_cast<void*>(work.to);
  const int type = *number_of(work.dtype);
  const int reduction = number_of_reduction(work.reduction);
  Result result = 0;
  if (operation == "reduce_scatter")
    result = api_.reduce_scatter(from, to, work.count, type, reduction, communicator, stream);
  else if (operation == "broadcast")
    result = api_.broadcast(from, to, work.count, type, work.root, communicator, stream);
  else if (operation == "all_gather" || operation == "gather")
    result = api_.all_gather(from, to, work.count, type, communicator, stream);
  else
    result = api_.all_reduce(from, to, work.count, type, reduction, communicator, stream);
  check(result, operation);
}

Communicators::Communicators(const Library& library, std::span<const int> cards)
    : library_(library), all_(cards.size()) {
  const ForeignCode code("NCCL");
  const SignalGuard signals;
  const FloatModeGuard floats;
  library_.check(library_.api_.init_all(all_.data(), static_cast<int>(cards.size()), cards.data()), "communicators");
}

Communicators::~Communicators() {
  for (const Communicator each : all_) library_.api_.destroy(each);
}

}  // namespace assay::engine::cuda::nccl
