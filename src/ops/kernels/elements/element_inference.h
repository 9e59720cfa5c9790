#pragma once

#include "base/function_ref.h"
#include "ops/infer.h"

namespace assay::ops {

// infer_broadcast, and the elements of output 0 where both inputs are small integer tensors of known or symbolic
// elements: what computes shapes.
void infer_elements_of_two(Infer& node, FunctionRef<Dim(const Dim& a, const Dim& b)> fn);
// infer_same_as_first, and the elements of output 0 from those of input 0.
void infer_elements_of_one(Infer& node, FunctionRef<Dim(const Dim& a)> fn);
// Elements moved, not computed: those of output 0 are the elements of input 0 at `places`, in the shape `shape`.
void infer_moved_elements(Infer& node, tensor::Shape shape, FunctionRef<uint64_t(uint64_t place)> source_of);

}  // namespace assay::ops
