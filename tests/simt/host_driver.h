#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <vector>

#include <dlfcn.h>
#include <unistd.h>

#include "engine/devices/cuda/driver/driver.h"

namespace assay::testing_support {

// A driver whose one card is the host: modules are libraries that HostCompiler made, work is done when it is added, and
// a capture keeps launches for later. Calls can be told to fail.
namespace host_driver {

namespace cuda = engine::cuda;

inline std::atomic<int> calls = 0;
inline std::atomic<int> fails_at = -1;  // the call of this number is refused
inline std::atomic<cuda::Result> fails_with = 700;
inline std::atomic<int64_t> held_bytes = 0;
inline std::atomic<int> graphs = 0;       // that are kept
inline std::atomic<int> replays = 0;      // of graphs
inline std::atomic<int> launches = 0;     // outside of graphs
inline std::atomic<int> waiting = 0;      // kernels that wait for those of other cards
inline std::atomic<int> held_back = 0;    // times that work waited for a word
inline std::atomic<int> allocations = 0;  // of a card's memory
inline std::atomic<int> frees = 0;
inline std::atomic<int> uploads = 0;
inline std::atomic<int> downloads = 0;
inline std::atomic<int> copies = 0;       // within the card
inline std::atomic<int> card_of_all = 0;  // of which all memory is
inline std::mutex mutex;
inline std::map<uint64_t, size_t> memory;  // of the card

using Kernel = void (*)(const void* params, const unsigned* grid, unsigned threads);
struct HostKernel {
  Kernel run = nullptr;
  unsigned param_bytes = 0;
  std::unique_ptr<std::mutex> own_turn;  // of a kernel that waits for those of other cards
};
// Kernels have their state in variables: one runs at a time, and beside it those that wait, one of each.
inline void run_alone(const HostKernel& kernel, const uint64_t* params, const unsigned* grid, unsigned threads) {
  static std::mutex turn;
  const std::scoped_lock lock(kernel.own_turn ? *kernel.own_turn : turn);
  if (kernel.own_turn) ++waiting;
  kernel.run(params, grid, threads);
}
struct Work {
  const HostKernel* kernel;
  std::vector<uint64_t> params;
  unsigned grid[3];
  unsigned threads;
  void run() const { run_alone(*kernel, params.data(), grid, threads); }
};
struct HostStream {
  bool is_capturing = false;
  std::vector<Work> captured;
  std::vector<std::pair<const unsigned*, unsigned>> awaited;  // words, and what they have to be

  bool has_come() const {
    return std::ranges::all_of(awaited, [](const auto& of) { return *of.first >= of.second; });
  }
};
inline constexpr cuda::Result kWouldHang = 702;
struct HostEvent {
  std::chrono::steady_clock::time_point at;
};
struct HostModule {
  void* library = nullptr;
  HostKernel kernel;
};

template <typename To, typename From>
To as(From from) {
  return reinterpret_cast<To>(from);
}

inline cuda::Result result() { return calls++ == fails_at ? fails_with.load() : cuda::kSuccess; }
inline cuda::Result with(const std::function<void()>& fn) {
  const cuda::Result made = result();
  if (made == cuda::kSuccess) fn();
  return made;
}

// As many as $ASSAY_HOST_CARDS says, all of them the host.
inline int card_count() {
  const char* const count = std::getenv("ASSAY_HOST_CARDS");
  return count == nullptr ? 1 : std::atoi(count);
}

inline cuda::Result allocate(cuda::DevicePointer* to, size_t bytes) {
  return with([&] {
    ++allocations;
    auto* const block = static_cast<uint64_t*>(std::aligned_alloc(256, (bytes + 511) / 256 * 256));
    std::memset(block, 0xff, bytes);  // whoever reads it too early sees no numbers
    block[0] = bytes;
    held_bytes += static_cast<int64_t>(bytes);
    *to = as<uint64_t>(block) + 256;
    const std::scoped_lock lock(mutex);
    memory.emplace(*to, bytes);
  });
}
inline cuda::Result release(cuda::DevicePointer at) {
  ++frees;
  auto* const block = as<uint64_t*>(at - 256);
  {
    const std::scoped_lock lock(mutex);
    memory.erase(at);
  }
  held_bytes -= static_cast<int64_t>(block[0]);
  std::free(block);
  return cuda::kSuccess;
}
inline cuda::Result find_range(cuda::DevicePointer* first, size_t* bytes, cuda::DevicePointer at) {
  constexpr cuda::Result kNoPointer = 1;
  const std::scoped_lock lock(mutex);
  const auto after = memory.upper_bound(at);
  if (after == memory.begin() || at >= std::prev(after)->first + std::prev(after)->second) return kNoPointer;
  std::tie(*first, *bytes) = *std::prev(after);
  return cuda::kSuccess;
}
inline cuda::Result tell_of_memory(void* to, int fact, cuda::DevicePointer at) {
  cuda::DevicePointer first = 0;
  size_t bytes = 0;
  if (const cuda::Result missing = find_range(&first, &bytes, at); missing != cuda::kSuccess) return missing;
  *static_cast<int*>(to) = fact == cuda::kKindOfMemory ? static_cast<int>(cuda::kMemoryOfCard) : card_of_all.load();
  return result();
}
inline cuda::Result load(cuda::Module* to, const void* image) {
  return with([&] {
    const auto* const bytes = static_cast<const char*>(image);
    uint64_t sections = 0;
    uint16_t section_bytes = 0, count = 0;
    std::memcpy(&sections, bytes + 40, sizeof sections);  // of the ELF head: the file ends with its sections
    std::memcpy(&section_bytes, bytes + 58, sizeof section_bytes);
    std::memcpy(&count, bytes + 60, sizeof count);
    std::string path = "/tmp/assay-kernel-XXXXXX";
    ::close(::mkstemp(path.data()));
    std::ofstream(path, std::ios::binary).write(bytes, static_cast<std::streamsize>(sections + section_bytes * count));
    auto* const module = new HostModule{.library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL), .kernel = {}};
    ::unlink(path.c_str());
    module->kernel.run = as<Kernel>(::dlsym(module->library, "kernel"));
    if (::dlsym(module->library, "kernel_waits") != nullptr) module->kernel.own_turn = std::make_unique<std::mutex>();
    module->kernel.param_bytes = *as<const unsigned*>(::dlsym(module->library, "kernel_param_bytes"));
    *to = as<cuda::Module>(module);
  });
}
inline cuda::Result launch(const cuda::LaunchConfig* config, cuda::Function function, void** params, void**) {
  const cuda::Result made = result();
  if (made != cuda::kSuccess) return made;
  const auto* const kernel = as<const HostKernel*>(function);
  Work work{kernel, {}, {config->grid[0], config->grid[1], config->grid[2]}, config->block[0]};
  const auto* const words = static_cast<const uint64_t*>(params[0]);
  auto* const stream = as<HostStream*>(config->stream);
  if (stream == nullptr || !stream->is_capturing) {
    ++launches;
    run_alone(*kernel, words, work.grid, work.threads);
    return made;
  }
  work.params.assign(words, words + kernel->param_bytes / sizeof(uint64_t));
  stream->captured.push_back(std::move(work));
  return made;
}

// As machine.inc reads it.
struct HostMap {
  uint64_t first = 0;
  unsigned rank = 0, rows = 0, element_bytes = 0;
  int dims[4] = {}, strides[4] = {}, box[4] = {};
  int low[2] = {}, high[2] = {}, steps[2] = {};
};
inline unsigned element_bytes(int type) {
  constexpr int kBytes = 0, kTf32 = 11;
  return type == kTf32 ? 4 : type == kBytes ? 1 : 2;
}
inline HostMap host_map(int type, unsigned rank, uint64_t address, const uint64_t* dims, const uint64_t* strides) {
  HostMap map{.first = address, .rank = rank, .element_bytes = element_bytes(type)};
  for (unsigned i = 0; i < rank; ++i) map.dims[i] = static_cast<int>(dims[i]);
  for (unsigned i = 0; i + 1 < rank; ++i) map.strides[i] = static_cast<int>(strides[i] / element_bytes(type));
  return map;
}
// The driver refuses what cards cannot do.
inline bool can_map(unsigned rank, uint64_t address, const uint64_t* strides) {
  bool can = address % 16 == 0;
  for (unsigned i = 0; i + 1 < rank; ++i) can = can && strides[i] % 16 == 0 && strides[i] > 0;
  return can;
}
inline cuda::Result map_boxes(void* to, int type, unsigned rank, cuda::DevicePointer address, const uint64_t* dims,
                              const uint64_t* strides, const unsigned* box, const unsigned*, int, int, int, int) {
  constexpr cuda::Result kInvalid = 1;
  if (!can_map(rank, address, strides) || box[0] != 128 / element_bytes(type) || box[1] > 256 || box[2] > 256)
    return kInvalid;
  HostMap map = host_map(type, rank, address, dims, strides);
  std::copy_n(box, rank, map.box);
  std::memcpy(to, &map, sizeof map);
  return result();
}
inline cuda::Result map_windows(void* to, int type, unsigned rank, cuda::DevicePointer address, const uint64_t* dims,
                                const uint64_t* strides, const int* low, const int* high, unsigned channels,
                                unsigned rows, const unsigned* steps, int, int, int, int) {
  constexpr cuda::Result kInvalid = 1;
  const auto is_corner = [](int corner) { return corner >= -128 && corner <= 127; };
  if (!can_map(rank, address, strides) || channels != 128 / element_bytes(type) || rows > 1024) return kInvalid;
  if (!std::all_of(low, low + 2, is_corner) || !std::all_of(high, high + 2, is_corner)) return kInvalid;
  HostMap map = host_map(type, rank, address, dims, strides);
  map.rows = rows;
  std::copy_n(low, 2, map.low);
  std::copy_n(high, 2, map.high);
  std::copy_n(steps + 1, 2, map.steps);
  std::memcpy(to, &map, sizeof map);
  return result();
}

inline cuda::Api make_api() {
  using namespace cuda;
  Api api;
  api.init = [](unsigned) { return result(); };
  api.driver_version = [](int* to) { return with([&] { *to = 13000; }); };
  api.device_count = [](int* to) { return with([&] { *to = card_count(); }); };
  api.device_get = [](DeviceNumber* to, int number) { return with([&] { *to = number; }); };
  api.device_name = [](char* to, int, DeviceNumber) { return with([&] { std::strcpy(to, "the host"); }); };
  api.device_attribute = [](int* to, int wanted, DeviceNumber) {
    return with([&] {
      switch (static_cast<Attribute>(wanted)) {
        case Attribute::capability_major:
          *to = 9;
          break;
        case Attribute::capability_minor:
          *to = 0;
          break;
        case Attribute::multiprocessors:
          *to = 4;
          break;
        case Attribute::l2_bytes:
          *to = 1 << 20;
          break;
        case Attribute::shared_bytes_of_block:
          *to = 227 << 10;
          break;
      }
    });
  };
  api.context_retain = [](DriverContext* to, DeviceNumber) { return with([&] { *to = nullptr; }); };
  api.context_release = [](DeviceNumber) { return kSuccess; };
  api.device_reaches = [](int* to, DeviceNumber, DeviceNumber) {
    return with([&] { *to = std::getenv("ASSAY_HOST_NO_PEERS") == nullptr ? 1 : 0; });
  };
  api.peer_enable = [](DriverContext, unsigned) { return result(); };
  api.context_set = [](DriverContext) { return kSuccess; };
  api.error_name = [](Result, const char** to) {
    *to = "CUDA_ERROR_ON_PURPOSE";
    return kSuccess;
  };
  api.error_text = [](Result, const char** to) {
    *to = "told to fail";
    return kSuccess;
  };
  api.memory_info = [](size_t* free, size_t* all) { return with([&] { *free = *all = size_t{8} << 30; }); };
  api.allocate = allocate;
  api.free = release;
  api.allocate_host = [](void** to, size_t bytes, unsigned) { return with([&] { *to = std::malloc(bytes); }); };
  api.free_host = [](void* at) {
    std::free(at);
    return kSuccess;
  };
  api.set_words = [](DevicePointer at, unsigned word, size_t count, Stream) {
    return with([&] { std::fill_n(as<unsigned*>(at), count, word); });
  };
  api.upload = [](DevicePointer to, const void* from, size_t bytes, Stream) {
    return with([&] {
      ++uploads;
      std::memcpy(as<void*>(to), from, bytes);
    });
  };
  api.download = [](void* to, DevicePointer from, size_t bytes, Stream) {
    return with([&] {
      ++downloads;
      std::memcpy(to, as<const void*>(from), bytes);
    });
  };
  api.copy = [](DevicePointer to, DevicePointer from, size_t bytes, Stream) {
    return with([&] {
      ++copies;
      std::memmove(as<void*>(to), as<const void*>(from), bytes);
    });
  };
  api.copy_any = api.copy;
  api.set_bytes = [](DevicePointer at, unsigned char byte, size_t count, Stream) {
    return with([&] { std::memset(as<void*>(at), byte, count); });
  };
  api.memory_range = find_range;
  api.context_wait = [] { return result(); };
  api.event_wait = [](Event) { return result(); };
  api.stream_wait_event = [](Stream, Event, unsigned) { return result(); };
  api.stream_wait_word = [](Stream stream, DevicePointer word, unsigned least, unsigned) {
    return with([&] {
      ++held_back;
      as<HostStream*>(stream)->awaited.push_back({as<const unsigned*>(word), least});
    });
  };
  api.pointer_fact = tell_of_memory;
  api.stream_captures = [](Stream stream, int* to) {
    return with([&] { *to = stream != nullptr && as<HostStream*>(stream)->is_capturing ? 1 : 0; });
  };
  api.stream_create = [](Stream* to, unsigned) { return with([&] { *to = as<Stream>(new HostStream); }); };
  api.stream_destroy = [](Stream stream) {
    delete as<HostStream*>(stream);
    return kSuccess;
  };
  api.stream_wait = [](Stream stream) {
    if (stream != nullptr && !as<HostStream*>(stream)->has_come()) return kWouldHang;
    return result();
  };
  api.event_create = [](Event* to, unsigned) { return with([&] { *to = as<Event>(new HostEvent); }); };
  api.event_destroy = [](Event event) {
    delete as<HostEvent*>(event);
    return kSuccess;
  };
  api.event_record = [](Event event, Stream) {
    return with([&] { as<HostEvent*>(event)->at = std::chrono::steady_clock::now(); });
  };
  api.event_milliseconds = [](float* to, Event from, Event until) {
    return with([&] {
      const auto passed = as<HostEvent*>(until)->at - as<HostEvent*>(from)->at;
      *to = std::chrono::duration<float, std::milli>(passed).count();
    });
  };
  api.module_load = load;
  api.module_unload = [](Module module) {
    ::dlclose(as<HostModule*>(module)->library);
    delete as<HostModule*>(module);
    return kSuccess;
  };
  api.module_function = [](Function* to, Module module, const char*) {
    return with([&] { *to = as<Function>(&as<HostModule*>(module)->kernel); });
  };
  api.function_set = [](Function, int, int) { return result(); };
  api.launch = launch;
  api.capture_begin = [](Stream stream, int) { return with([&] { as<HostStream*>(stream)->is_capturing = true; }); };
  api.capture_end = [](Stream stream, Graph* to) {
    auto* const capturing = as<HostStream*>(stream);
    capturing->is_capturing = false;
    *to = as<Graph>(new std::vector<Work>(std::move(capturing->captured)));
    capturing->captured.clear();
    return kSuccess;
  };
  api.graph_instantiate = [](GraphExec* to, Graph graph, unsigned long long) {
    return with([&] {
      ++graphs;
      *to = as<GraphExec>(new std::vector<Work>(*as<std::vector<Work>*>(graph)));
    });
  };
  api.graph_destroy = [](Graph graph) {
    delete as<std::vector<Work>*>(graph);
    return kSuccess;
  };
  api.graph_exec_destroy = [](GraphExec graph) {
    --graphs;
    delete as<std::vector<Work>*>(graph);
    return kSuccess;
  };
  api.map_boxes = map_boxes;
  api.map_windows = map_windows;
  api.graph_launch = [](GraphExec graph, Stream) {
    return with([&] {
      ++replays;
      for (const Work& work : *as<std::vector<Work>*>(graph)) work.run();
    });
  };
  return api;
}

}  // namespace host_driver

}  // namespace assay::testing_support
