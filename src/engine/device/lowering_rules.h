#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tensor/dtype.h"

namespace assay::engine {

// Properties of a device that decide how models are lowered and planned for it.
struct LoweringRules {
  // Types of its arithmetic. A model's other floats are widened to float32, and a permission to compute in them has no
  // effect.
  std::vector<tensor::DType> computes = {tensor::DType::float32, tensor::DType::bfloat16};
  // Recurrences, samples of pictures, products that are neither of matrices nor convolutions, and those of ONNX
  // Runtime's own operators have no kernels of bfloat16: a permission leaves them in float32.
  bool has_wide_kinds = false;
  size_t most_nodes = 24;               // of a layer
  size_t most_chain_values = 23;        // of elementwise nodes in a layer: results, and operands from elsewhere
  int64_t few_rows = 8;                 // products of so few rows read compressed weights as they are
  int64_t few_filters = 8;              // transposed convolutions with fewer become convolutions, with many zeros
  bool has_volumes = false;             // convolutions and pools over three dims
  bool turns_neighbours = false;        // rotary positions of neighbours, written out
  bool selects_matrices = false;        // products by constant matrices that indices choose
  bool casts_into_other_layout = true;  // a Cast or quantiser may write channels last what it reads as it is
  int64_t most_sum_bytes = 0;           // of a sum over ranks that goes on element by element in its layer
  int64_t most_fused_rows = 0;          // of a product that normalises them or whose halves go on together
  int64_t most_depthwise = 0;           // results of a depthwise convolution that is the operand of the next one
  bool multiplies_float8 = false;       // matrices of float8e4m3fn
  bool computes_tf32 = false;           // products of float32 in fewer bits, where that is permitted
  double least_work = 1e4;              // steps of a part that is planned at all: multiplications and elements
  double work_of_node = 1e6;            // of the reference, while one node is lowered and planned

  bool has(tensor::DType dtype) const { return std::ranges::find(computes, dtype) != computes.end(); }
};

}  // namespace assay::engine
