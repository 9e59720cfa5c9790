#pragma once

#include <vector>

#include "ir/model.h"

namespace assay::surgery {

// The initializers that are weights, in the order of the file, bodies included: what Conv, ConvTranspose, Gemm and
// MatMul read, the table of a Gather and the data of a Slice where they are large, and what operators that ONNX does
// not know read, where it is large. They are found through QuantizeLinear, DequantizeLinear and Transpose, and through
// calls of the model's functions. Tensors of uint8, strings and sparse tensors are none.
std::vector<ir::ValueId> strippable_weights(const ir::Model& model);

}  // namespace assay::surgery
