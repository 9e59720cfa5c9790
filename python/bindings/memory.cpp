#include <cstdlib>
#include <cstring>
#include <mutex>

#include "backends/engine/card_memory.h"
#include "base/error.h"
#include "convert.h"
#include "engine/devices/cuda/driver/card.h"

namespace assay::python {
namespace {

// Memory of this process: only addresses within what was allocated here are used.
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

// The memory of the device that $ASSAY_DEVICE names: of a card, or of this process, where work is over when it was
// asked for.
class DeviceMemory {
 public:
  static DeviceMemory& usual() {
    static auto& memory = *new DeviceMemory();
    return memory;
  }

  bool is_card() const { return card_ != nullptr; }
  std::string name() const { return card_ ? card_->card().name() : ""; }
  int capability() const { return card_ ? card_->card().capability() : 0; }
  int processors() const { return card_ ? card_->card().multiprocessors() : 0; }
  // (free, all) bytes of a card.
  std::pair<uint64_t, uint64_t> sizes() const {
    return card_ ? std::pair(card_->card().free_bytes(), card_->card().memory_bytes())
                 : std::pair<uint64_t, uint64_t>();
  }

  uintptr_t allocate(uint64_t bytes) { return card_ ? card_->allocate(bytes) : host_.allocate(bytes); }
  bool free(uintptr_t address) { return card_ ? card_->free(address) : host_.free(address); }
  bool holds(uintptr_t address, uint64_t bytes) {
    return card_ ? card_->holds(address, bytes) : host_.holds(address, bytes);
  }
  void copy(uintptr_t to, uintptr_t from, uint64_t bytes, uint64_t stream) const {
    card_ ? card_->copy(to, from, bytes, stream) : static_cast<void>(std::memmove(pointer(to), pointer(from), bytes));
  }
  void set(uintptr_t address, int value, uint64_t bytes, uint64_t stream) const {
    card_ ? card_->set(address, value, bytes, stream) : static_cast<void>(std::memset(pointer(address), value, bytes));
  }

  uint64_t make_stream() const { return card_ ? card_->make_stream() : 0; }
  void end_stream(uint64_t stream) const {
    if (card_ && stream != 0) card_->end_stream(stream);
  }
  void wait_for_stream(uint64_t stream) const {
    if (card_) card_->wait_for_stream(stream);
  }
  void wait_for_all() const {
    if (card_) card_->wait_for_all();
  }
  uint64_t make_event() const { return card_ ? card_->make_event() : 0; }
  void end_event(uint64_t event) const {
    if (card_) card_->end_event(event);
  }
  void record(uint64_t event, uint64_t stream) const {
    if (card_) card_->record(event, stream);
  }
  void wait_for_event(uint64_t event) const {
    if (card_) card_->wait_for_event(event);
  }
  void make_wait(uint64_t stream, uint64_t event) const {
    if (card_) card_->make_wait(stream, event);
  }
  double milliseconds(uint64_t from, uint64_t until) const { return card_ ? card_->milliseconds(from, until) : 0; }

 private:
  DeviceMemory() : card_(backends::CardMemory::find()) {}

  std::unique_ptr<backends::CardMemory> card_;
  HostMemory host_;
};

// A call without the lock of the interpreter.
template <typename Result, typename... Given>
auto free_call(Result (DeviceMemory::*call)(Given...)) {
  return [call](DeviceMemory& self, Given... given) { return unlocked([&] { return (self.*call)(given...); }); };
}
template <typename Result, typename... Given>
auto free_call(Result (DeviceMemory::*call)(Given...) const) {
  return [call](const DeviceMemory& self, Given... given) { return unlocked([&] { return (self.*call)(given...); }); };
}

}  // namespace

tensor::Bytes bytes_at(uintptr_t address, uint64_t size, std::vector<std::byte>& copied) {
  DeviceMemory& memory = DeviceMemory::usual();
  if (!memory.is_card() || !memory.holds(address, size)) {
    return {reinterpret_cast<const std::byte*>(address), size};  // NOLINT: an address is what the caller has
  }
  copied.resize(size);
  memory.copy(reinterpret_cast<uintptr_t>(copied.data()), address, size, 0);  // NOLINT: likewise
  return copied;
}

void bind_memory(nb::module_& module) {
  nb::class_<HostMemory>(module, "HostMemory")
      .def(nb::init<>())
      .def("allocate", &HostMemory::allocate)
      .def("free", &HostMemory::free)
      .def("holds", &HostMemory::holds);
  nb::class_<DeviceMemory>(module, "DeviceMemory")
      .def_prop_ro("is_card", &DeviceMemory::is_card)
      .def_prop_ro("name", &DeviceMemory::name)
      .def_prop_ro("capability", &DeviceMemory::capability)
      .def_prop_ro("processors", &DeviceMemory::processors)
      .def_prop_ro("sizes", &DeviceMemory::sizes)
      .def("allocate", free_call(&DeviceMemory::allocate))
      .def("free", free_call(&DeviceMemory::free))
      .def("holds", free_call(&DeviceMemory::holds))
      .def("copy", free_call(&DeviceMemory::copy), nb::arg("to"), nb::arg("source"), nb::arg("nbytes"),
           nb::arg("stream") = 0)
      .def("set", free_call(&DeviceMemory::set), nb::arg("address"), nb::arg("value"), nb::arg("nbytes"),
           nb::arg("stream") = 0)
      .def("make_stream", free_call(&DeviceMemory::make_stream))
      .def("end_stream", free_call(&DeviceMemory::end_stream))
      .def("wait_for_stream", free_call(&DeviceMemory::wait_for_stream))
      .def("wait_for_all", free_call(&DeviceMemory::wait_for_all))
      .def("make_event", free_call(&DeviceMemory::make_event))
      .def("end_event", free_call(&DeviceMemory::end_event))
      .def("record", free_call(&DeviceMemory::record))
      .def("wait_for_event", free_call(&DeviceMemory::wait_for_event))
      .def("make_wait", free_call(&DeviceMemory::make_wait))
      .def("milliseconds", free_call(&DeviceMemory::milliseconds));
  module.def("copy_memory", [](uintptr_t to, uintptr_t from, uint64_t bytes) {
    unlocked([&] { DeviceMemory::usual().copy(to, from, bytes, 0); });
  });
  module.def(
      "device_memory", []() -> DeviceMemory& { return DeviceMemory::usual(); }, nb::rv_policy::reference);
}

}  // namespace assay::python
