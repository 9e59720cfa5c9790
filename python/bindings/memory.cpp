#include <cstdlib>
#include <cstring>
#include <mutex>

#include "base/error.h"
#include "convert.h"

namespace assay::python {
namespace {

// Memory that stands for that of a device: only addresses within what was allocated here are used.
class HostMemory {
 public:
  uintptr_t allocate(uint64_t bytes) {
    void* const data = std::aligned_alloc(kAlignment, (bytes / kAlignment + 1) * kAlignment);
    if (data == nullptr) fail(ErrorCode::limit, "there is no memory for {} bytes", bytes);
    const std::scoped_lock lock(mutex_);
    const auto address = reinterpret_cast<uintptr_t>(data);  // NOLINT: addresses are what is handed out
    blocks_[address] = bytes;
    return address;
  }

  // False: it is none of ours.
  bool free(uintptr_t address) {
    const std::scoped_lock lock(mutex_);
    if (blocks_.erase(address) == 0) return false;
    std::free(reinterpret_cast<void*>(address));  // NOLINT: it came from allocate()
    return true;
  }

  bool holds(uintptr_t address, uint64_t bytes) {
    const std::scoped_lock lock(mutex_);
    auto block = blocks_.upper_bound(address);
    if (block == blocks_.begin()) return false;
    --block;
    const uint64_t offset = address - block->first;
    return offset <= block->second && bytes <= block->second - offset;
  }

 private:
  static constexpr uint64_t kAlignment = 256;

  std::mutex mutex_;
  std::map<uintptr_t, uint64_t> blocks_;
};

void* pointer(uintptr_t address) { return reinterpret_cast<void*>(address); }  // NOLINT: likewise

}  // namespace

void bind_memory(nb::module_& module) {
  nb::class_<HostMemory>(module, "HostMemory")
      .def(nb::init<>())
      .def("allocate", &HostMemory::allocate)
      .def("free", &HostMemory::free)
      .def("holds", &HostMemory::holds);
  module.def("copy_memory", [](uintptr_t to, uintptr_t from, uint64_t bytes) {
    unlocked([&] { std::memmove(pointer(to), pointer(from), bytes); });
  });
  module.def("set_memory", [](uintptr_t to, int value, uint64_t bytes) {
    unlocked([&] { std::memset(pointer(to), value, bytes); });
  });
}

}  // namespace assay::python
