#pragma once

#include "base/files.h"
#include "tensor/storage.h"

namespace assay::tensor {

// Writes the elements as they are stored; those of a mapped file go from file to file inside the kernel where it can.
void write_to(OutputFile& file, const Storage& storage);

}  // namespace assay::tensor
