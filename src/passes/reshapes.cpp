#include "passes/reshapes.h"

#include <algorithm>

#include "ir/queries.h"
#include "ops/traits.h"

namespace assay::passes {

bool is_reshape(PassRun& run, ir::NodeId node) {
  if (!node || run.model()[node].is_outputs || has_references(run.model()[node])) return false;
  const std::string_view op = run.model().text(run.model()[node].op);
  return ops::traits("", op).moves == ops::Moves::in_order && op != "Identity" && run.is_op(node, op);
}

std::optional<std::vector<int64_t>> reshape_target(const ops::Dims& dims) {
  std::vector<int64_t> target;
  for (const ops::Dim& dim : dims) target.push_back(dim.number().value_or(-1));
  if (std::ranges::count(target, 0) > 0 || std::ranges::count(target, -1) > 1) return std::nullopt;
  return target;
}

}  // namespace assay::passes
