#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tensor/storage.h"

namespace assay::formats {

// Bytes of our own that are not zeroed before they are written.
struct Buffer {
  explicit Buffer(uint64_t count);  // Error (limit) without memory
  std::span<std::byte> bytes() const { return {data.get(), size}; }
  std::unique_ptr<std::byte[]> data;
  uint64_t size;
};

// A storage of `size` bytes that `make` fills at their first use; may throw Error.
tensor::StoragePtr make_lazy(uint64_t size, std::function<void(std::span<std::byte>)> make);
// A storage of `count` strings that `make` gives at their first use.
tensor::StoragePtr make_lazy_strings(uint64_t count, std::function<std::vector<std::string>()> make);
// The bytes of `whole` from `offset` on; `whole` is not accessed before they are used.
tensor::StoragePtr make_part(tensor::StoragePtr whole, uint64_t offset, uint64_t size);

}  // namespace assay::formats
