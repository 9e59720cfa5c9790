#pragma once

#include "ir/model.h"
#include "results/model_diff.h"

namespace assay::inspect {

// Elements a and b are equal where |a-b| <= atol + rtol*|b|, or both are NaN.
struct Tolerance {
  double rtol = 0;
  double atol = 0;
};

// Element type and shape.
bool same_tensor_type(const ir::TensorEntry& a, const ir::TensorEntry& b);
// True if the elements are the same bits; Error (io, parse) if they cannot be read. Types and shapes must be the same.
bool same_elements(const ir::TensorEntry& a, const ir::TensorEntry& b);
// Reads both tensors tile by tile. Types and shapes must be the same.
results::TensorDistance tensor_distance(const ir::TensorEntry& a, const ir::TensorEntry& b, const Tolerance& tolerance);

}  // namespace assay::inspect
