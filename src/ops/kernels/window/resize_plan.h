#pragma once

#include <span>
#include <vector>

#include "base/function_ref.h"
#include "ops/kernels/window/resize_attributes.h"

namespace assay::ops {

// Rules and result of Resize and Upsample.
void infer_resize(Infer& node);
// The work along each axis, when infer_resize has found no fault.
std::vector<ResampledAxis> plan_resize(const Eval& node);
// The work for these shapes and the numbers of inputs, which are empty if one is left out.
std::vector<ResampledAxis> plan_resize(const Node& node, const Shape& in, const Shape& out,
                                       FunctionRef<std::vector<double>(uint32_t input)> numbers);

// A term of the weighted sum that an element along an axis is; elements beside the axis are the last ones before.
struct ResampledTerm {
  uint64_t element;
  double weight;
};
using ResampledTerms = std::vector<std::vector<ResampledTerm>>;  // by place
ResampledTerms resize_terms(const Node& node, const ResampledAxis& axis);

bool is_unchanged(const ResampledAxis& axis);
// The axes that change, in the order that keeps what lies between them small: those that get shorter first.
std::vector<size_t> resampling_order(std::span<const ResampledAxis> plan);

}  // namespace assay::ops
