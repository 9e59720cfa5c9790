#pragma once

#include "tensor/named.h"

namespace assay::formats {

// The tensor of a value that is to be saved. Error (unsupported) for sequences, maps and empty optionals, which no form
// of file holds.
const tensor::Tensor& tensor_to_save(const tensor::NamedDatum& value);

}  // namespace assay::formats
