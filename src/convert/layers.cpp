#include "convert/layers.h"

#include <algorithm>

#include "base/text.h"
#include "ir/naming.h"

namespace assay::convert {
namespace {

bool is_among(const std::vector<std::string>& words, std::string_view op) {
  return std::ranges::any_of(words, [op](const std::string& word) { return to_lower(word) == to_lower(op); });
}

}  // namespace

Layer make_layer(const ir::Model& model, ir::NodeId node, std::string reason) {
  return {node, std::string(ir::known_name(model, node)), std::string(model.text(model[node].op)), reason.empty(),
          std::move(reason)};
}

std::vector<ir::NodeId> converted_nodes(const std::vector<Layer>& layers) {
  std::vector<ir::NodeId> nodes;
  for (const Layer& layer : layers) {
    if (layer.converted) nodes.push_back(layer.node);
  }
  return nodes;
}

bool keep_behind(uint64_t most, const std::vector<Layer>& layers, LayerChoice& choice) {
  bool is_any_kept = false;
  uint64_t count = 0;
  for (const Layer& layer : layers) {
    if (!layer.converted || ++count <= most) continue;
    choice.kept[layer.node] = "it comes after the last step";
    is_any_kept = true;
  }
  return is_any_kept;
}

std::string LayerFilter::refusal(ir::NodeId node, std::string_view op) const {
  if (excluded_[node.index]) return "excluded by name";
  const bool is_other = !choice_.only_ops.empty() && !is_among(choice_.only_ops, op);
  if (is_other || is_among(choice_.excluded_ops, op)) return "excluded by its operator";
  const auto kept = choice_.kept.find(node);
  return kept == choice_.kept.end() ? std::string{} : kept->second;
}

}  // namespace assay::convert
