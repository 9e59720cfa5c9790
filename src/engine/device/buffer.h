#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace assay::engine {

// A place in a device's memory; only the device knows its meaning. On the host it is a pointer.
struct Address {
  uint64_t value = 0;
  Address operator+(uint64_t bytes) const { return {value + bytes}; }
};

// Memory of one device; it is freed with the last copy.
struct Buffer {
  Address first;
  uint64_t bytes = 0;
  std::shared_ptr<const void> owner = nullptr;  // null: there is no memory
};

struct Extent {
  Address first;
  uint64_t bytes = 0;
};

// Places in the memory of the host.
inline Address host_address(const void* bytes) { return {reinterpret_cast<uint64_t>(bytes)}; }
inline std::byte* host_bytes(Address address) { return reinterpret_cast<std::byte*>(address.value); }

}  // namespace assay::engine
