#pragma once

#include <functional>
#include <vector>

#include "tensor/storage.h"

namespace assay::tensor {

// Bytes that are made when they are asked for, the same each time. They are kept until they are released.
StoragePtr make_derived(uint64_t size_bytes, std::function<std::vector<std::byte>()> make);

// Gives back the memory of bytes that nobody looks at any more, what a derived storage made too; bytes() has it again.
void let_go_of(const Storage& storage);

// The same for storages that show the same bytes of memory or of a file; nothing is made for it.
const void* identity_of(const Storage& storage);

}  // namespace assay::tensor
