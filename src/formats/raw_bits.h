#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tensor/tensor.h"

namespace assay::formats {

// Types that NumPy lacks are stored as their raw bits, uint8 or uint16, together with their name.

// True if a type is stored this way.
bool is_raw_bits_type(tensor::DType dtype);
// The bits: of the same shape, or, for types narrower than a byte, the bytes in a row.
tensor::Tensor to_raw_bits(const tensor::Tensor& tensor);
// True if the shape must be stored with the bits.
bool is_packed(tensor::DType dtype);
// The tensor of that type; `shape` is that of the bits unless it is given. Error (parse) if they do not fit.
tensor::Tensor from_raw_bits(const tensor::Tensor& bits, std::string_view dtype,
                             const std::optional<tensor::Shape>& shape);

}  // namespace assay::formats
