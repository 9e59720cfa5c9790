#pragma once

#include "tensor/named.h"

namespace assay::formats {

// The tensor of a value to save. Error (unsupported) for sequences, maps and empty optionals, which no file format
// holds.
const tensor::Tensor& tensor_to_save(const tensor::NamedDatum& value);

}  // namespace assay::formats
