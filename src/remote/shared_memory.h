#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "base/files.h"
#include "remote/descriptor.h"
#include "tensor/storage.h"

namespace assay::remote {

// Borrowed bytes.
struct SharedBytes {
  Bytes bytes;
  std::shared_ptr<const void> owner;
};

// A piece of a shared memory: its begin and its content.
struct Placed {
  uint64_t offset;
  tensor::StoragePtr content;
};

// A new shared memory with these pieces, which cannot be changed any more. Error (limit) without memory.
Descriptor make_shared_memory(uint64_t size_bytes, std::span<const Placed> pieces);
// A shared memory that another process made, mapped read-only. Error (backend) if it is smaller, or may change.
SharedBytes map_shared_memory(const Descriptor& memory, uint64_t size_bytes);

// Part of a shared memory, which lives as long as the storage. Error (backend) if it has no such part.
tensor::StoragePtr make_shared_storage(const SharedBytes& memory, uint64_t offset, uint64_t size_bytes);

}  // namespace assay::remote
