#include "match/attention.h"

#include <algorithm>
#include <array>
#include <optional>

namespace assay::match {
namespace {

using ir::NodeId;
using ir::ValueId;

constexpr int kMostBetween = 8;

// Operators that may stand between a MatMul and Softmax: scales, masks, limits, casts.
constexpr std::array<std::string_view, 12> kBefore = {"Mul",      "Div",  "Add", "Sub", "Where", "Cast",
                                                      "Identity", "Clip", "Min", "Max", "Tanh",  "Dropout"};
constexpr std::array<std::string_view, 4> kBehind = {"Cast", "Identity", "Dropout", "Where"};

class AttentionSearch {
 public:
  explicit AttentionSearch(const ir::Model& model) : model_(model) {}

  std::optional<AttentionLayer> at(NodeId id) const {
    const ir::Node& node = model_[id];
    if (is_op(id, "Attention") && node.operands.size() >= 3) {
      AttentionLayer layer;
      layer.q = node.operands[0].value;
      layer.k = node.operands[1].value;
      layer.v = node.operands[2].value;
      layer.last = id;
      layer.is_attention_op = true;
      if (layer.q && layer.k && layer.v) return layer;
    }
    return is_op(id, "Softmax") && !node.operands.empty() ? around_softmax(id) : std::nullopt;
  }

 private:
  std::optional<AttentionLayer> around_softmax(NodeId softmax) const {
    AttentionLayer layer;
    const NodeId first = find_before(model_[softmax].operands[0].value, layer.before, kMostBetween);
    if (!first || model_[first].operands.size() != 2) return std::nullopt;
    layer.last = find_behind(softmax, layer.behind, kMostBetween);
    if (!layer.last || model_[layer.last].operands.size() != 2) return std::nullopt;
    layer.q = model_[first].operands[0].value;
    layer.k = model_[first].operands[1].value;
    layer.v = model_[layer.last].operands[1].value;
    if (!layer.q || !layer.k || !layer.v) return std::nullopt;
    layer.scaled = scaled(layer.q, layer.k);
    return layer;
  }

  std::optional<AttentionLayer::Scaled> scaled(ValueId q, ValueId k) const {
    AttentionLayer::Scaled parts;
    const bool is_product = is_scaled(q, parts.q, parts.q_scale) && is_scaled(k, parts.k, parts.k_scale);
    return is_product ? std::optional(parts) : std::nullopt;
  }

  bool is_scaled(ValueId value, ValueId& factor, ValueId& scale) const {
    const NodeId producer = model_[value].producer;
    if (!producer || !is_op(producer, "Mul") || model_[producer].operands.size() != 2) return false;
    factor = model_[producer].operands[0].value;
    scale = model_[producer].operands[1].value;
    return factor && scale;
  }

  // The MatMul behind this value, through what may stand between; the first operand that leads to one counts.
  NodeId find_before(ValueId value, std::vector<NodeId>& between, int steps) const {
    const NodeId producer = value ? model_[value].producer : NodeId{};
    if (!producer || steps == 0) return {};
    if (is_op(producer, "MatMul")) return producer;
    if (!is_one_of(producer, kBefore)) return {};
    for (const ir::Use& use : model_[producer].operands) {
      const NodeId found = find_before(use.value, between, steps - 1);
      if (found) between.insert(between.begin(), producer);
      if (found) return found;
    }
    return {};
  }

  // The MatMul that reads the node's result as its first operand.
  NodeId find_behind(NodeId id, NodeId& between, int steps) const {
    if (steps == 0 || model_[id].results.empty() || !model_[id].results[0]) return {};
    NodeId next;
    for (const ir::Use& use : ir::uses(model_, model_[id].results[0])) {
      const bool is_first = use.index == 0 && is_op(use.user, "MatMul");
      if (is_first && (!next || model_.is_before(use.user, next))) next = use.user;
    }
    if (next) return next;
    for (const ir::Use& use : ir::uses(model_, model_[id].results[0])) {
      if (!is_one_of(use.user, kBehind)) continue;
      const NodeId found = find_behind(use.user, between, steps - 1);
      if (found) between = use.user;
      if (found) return found;
    }
    return {};
  }

  bool is_op(NodeId id, std::string_view op) const {
    const ir::Node& node = model_[id];
    return node.graph == model_.main_graph() && model_.text(node.op) == op && model_.text(node.domain).empty();
  }

  template <size_t N>
  bool is_one_of(NodeId id, const std::array<std::string_view, N>& ops) const {
    return std::ranges::any_of(ops, [&](std::string_view op) { return is_op(id, op); });
  }

  const ir::Model& model_;
};

}  // namespace

std::vector<AttentionLayer> attention(const ir::Model& model) {
  const AttentionSearch search(model);
  std::vector<AttentionLayer> layers;
  for (const NodeId id : ir::nodes(model, model.main_graph())) {
    if (std::optional<AttentionLayer> layer = search.at(id)) layers.push_back(*layer);
  }
  return layers;
}

}  // namespace assay::match
