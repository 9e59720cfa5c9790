#include "passes/reshapes.h"

#include <algorithm>
#include <array>

#include "ir/queries.h"

namespace assay::passes {

bool is_reshape(PassRun& run, ir::NodeId node) {
  constexpr std::array<std::string_view, 4> kOps = {"Reshape", "Flatten", "Squeeze", "Unsqueeze"};
  if (!node || run.model()[node].is_outputs || has_references(run.model()[node])) return false;
  return std::ranges::any_of(kOps, [&](std::string_view op) { return run.is_op(node, op); });
}

std::optional<std::vector<int64_t>> reshape_target(const ops::Dims& dims) {
  std::vector<int64_t> target;
  for (const ops::Dim& dim : dims) target.push_back(dim.number().value_or(-1));
  if (std::ranges::count(target, 0) > 0 || std::ranges::count(target, -1) > 1) return std::nullopt;
  return target;
}

}  // namespace assay::passes
