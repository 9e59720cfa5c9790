#pragma once

#include <functional>
#include <span>

#include "tensor/storage.h"

namespace assay::tensor {

// Bytes that are made when they are asked for, the same each time: `fill` writes all of them. They are kept until they
// are released.
StoragePtr make_derived(uint64_t size_bytes, std::function<void(std::span<std::byte> bytes)> fill);

// Makes the bytes of a derived storage once and keeps them until they are let go; otherwise each streaming makes them
// anew.
void make_now(const Storage& storage);

// Gives back the memory of bytes that nobody looks at any more, what a derived storage made too; bytes() has it again.
void let_go_of(const Storage& storage);

// An identity that is equal for storages that show the same bytes of memory or of a file; nothing is made for it.
const void* identity_of(const Storage& storage);

}  // namespace assay::tensor
