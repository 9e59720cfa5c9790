#include "engine/lowering/spelled_moves.h"

#include "passes/constants.h"

namespace assay::engine {

ir::PatchValue add_transpose(passes::PassRun& run, ir::Patch& patch, ir::PatchValue value,
                             const std::vector<int64_t>& order) {
  const ir::Attribute perm = passes::integers_attribute(run, "perm", order);
  return patch.add({.op = "Transpose", .operands = {value}, .attributes = {perm}});
}

ir::PatchValue add_reshape(ir::Patch& patch, ir::PatchValue value, const std::vector<int64_t>& dims) {
  return patch.add({.op = "Reshape", .operands = {value, patch.add_constant(passes::integer_tensor(dims))}});
}

std::vector<int64_t> list_or(const ops::Node& facts, const char* name, size_t count, int64_t otherwise) {
  const std::vector<int64_t> written = facts.integers(name);
  return written.empty() ? std::vector<int64_t>(count, otherwise) : written;
}

}  // namespace assay::engine
