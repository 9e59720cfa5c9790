#include "passes/reshapes.h"

#include <algorithm>

#include "ir/queries.h"
#include "ops/traits.h"
#include "passes/constants.h"

namespace assay::passes {

bool is_reshape(PassRun& run, ir::NodeId node) {
  if (!node || run.model()[node].is_outputs || has_references(run.model()[node])) return false;
  return ops::traits(run.model(), node).is_reshape() && run.is_standard(node);
}

std::optional<std::vector<int64_t>> reshape_target(const ops::Dims& dims) {
  std::vector<int64_t> target;
  for (const ops::Dim& dim : dims) target.push_back(dim.number().value_or(-1));
  if (std::ranges::count(target, 0) > 0 || std::ranges::count(target, -1) > 1) return std::nullopt;
  return target;
}

ir::PatchValue add_transpose(PassRun& run, ir::Patch& patch, ir::PatchValue value, const std::vector<int64_t>& order) {
  const ir::Attribute perm = integers_attribute(run, "perm", order);
  return patch.add({.op = "Transpose", .operands = {value}, .attributes = {perm}});
}

ir::PatchValue add_reshape(ir::Patch& patch, ir::PatchValue value, const std::vector<int64_t>& dims) {
  return patch.add({.op = "Reshape", .operands = {value, patch.add_constant(integer_tensor(dims))}});
}

ir::PatchValue add_row_product(PassRun& run, ir::Patch& patch, const std::vector<ir::PatchValue>& operands) {
  const ir::Attribute by_result = ir::Attribute::of(run.edit().intern("transB"), int64_t{1});
  return patch.add({.op = "Gemm", .operands = operands, .attributes = {by_result}});
}

}  // namespace assay::passes
