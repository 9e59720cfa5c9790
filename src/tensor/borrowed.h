#pragma once

#include "tensor/storage.h"

namespace assay::tensor {

// Bytes of someone else, who must keep them as long as the storage is used.
StoragePtr make_borrowed(Bytes bytes);
bool is_borrowed(const Storage& storage);

}  // namespace assay::tensor
