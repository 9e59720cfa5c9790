#pragma once

#include <functional>
#include <vector>

#include "tensor/storage.h"

namespace assay::tensor {

// Bytes that are made when they are asked for, the same each time. They are kept until they are released.
StoragePtr make_derived(uint64_t size_bytes, std::function<std::vector<std::byte>()> make);

// Lets go of what a derived storage made. Nobody may look at it any more; bytes() makes it again.
void release_derived(const Storage& storage);

// The same for storages that show the same bytes of memory or of a file; nothing is made for it.
const void* identity_of(const Storage& storage);

}  // namespace assay::tensor
