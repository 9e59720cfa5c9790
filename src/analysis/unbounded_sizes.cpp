#include "analysis/unbounded_sizes.h"

#include <algorithm>
#include <optional>

namespace assay::analysis {
namespace {

std::optional<uint32_t> size_operand(std::string_view op) {
  if (op == "Range" || op == "Pad" || op == "Tile" || op == "Expand") return 1;
  if (op == "Resize") return 3;
  return std::nullopt;
}

bool depends_on_data(const ops::Inference& inference, ir::ValueId result) {
  if (!result.valid()) return false;
  const ops::Type& type = inference.type(result);
  return !type.dims ||
         std::ranges::any_of(*type.dims, [&](const ops::Dim& dim) { return inference.is_data_size(dim); });
}

}  // namespace

std::vector<ir::ValueId> unbounded_sizes(const ir::Model& model, const ops::Inference& inference) {
  std::vector<ir::ValueId> found;
  for (const ir::NodeId id : ir::nodes(model, model.main_graph())) {
    const ir::Node& node = model[id];
    const std::optional<uint32_t> operand = size_operand(model.text(node.op));
    if (!operand || *operand >= node.operands.size()) continue;
    if (node.results.empty() || !node.results[0]) continue;
    const ir::ValueId size = node.operands[*operand].value;
    if (!size.valid() || inference.constant(size) || !model[size].producer.valid()) continue;
    if (model.text(model[model[size].producer].op) == "Min") continue;
    const bool is_new = depends_on_data(inference, node.results[0]) && std::ranges::find(found, size) == found.end();
    if (is_new) found.push_back(size);
  }
  return found;
}

}  // namespace assay::analysis
