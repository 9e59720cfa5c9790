#include "convert/quantize/qdq_plan.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "convert/precision/float_values.h"
#include "convert/quantize/quantizer.h"
#include "ops/traits.h"
#include "schema/imports.h"

namespace assay::convert {
namespace {

bool is_same_op(std::string_view a, std::string_view b) { return to_lower(a) == to_lower(b); }

void check_ops(const std::vector<std::string>& words) {
  const std::vector<std::string> known = quantizable_ops();
  for (const std::string& word : words) {
    if (std::ranges::any_of(known, [&](const std::string& op) { return is_same_op(op, word); })) continue;
    const std::optional<std::string> near = did_you_mean(word, known);
    fail(ErrorCode::usage, "`{}` is no operator that is quantized{}; there are {}", printable(word),
         near ? fmt::format(": did you mean `{}`?", *near) : "", join(known, ", "));
  }
}

class QdqPlanner {
 public:
  QdqPlanner(const ir::Model& model, const QdqOptions& options, Diagnostics& findings)
      : model_(model),
        floats_(model, tensor::DType::float16),
        is_float8_(options.codes == QdqCodes::float8),
        operands_only_(options.operands_only || is_float8_),
        filter_(model, floats_.nodes, options.choice, findings),
        nodes_(main_nodes()),
        roles_(model.node_slots(), QdqRole::none),
        reasons_(model.node_slots()),
        leads_(model.value_slots()) {
    plan_.roles.resize(model.node_slots(), QdqRole::none);
    plan_.is_quantized.resize(model.value_slots());
    for (uint32_t i = 0; i < model.value_slots(); ++i) plan_.range_of.emplace_back(i);
  }

  QdqPlan plan() {
    for (const ir::NodeId node : floats_.nodes) judge(node);
    for (auto node = nodes_.rbegin(); node != nodes_.rend(); ++node) select(*node);
    for (const ir::NodeId node : nodes_) keep_results(node);
    for (const ir::NodeId node : nodes_) hand_on_range(node);
    for (const ir::NodeId node : floats_.nodes) add_layer(node);
    return std::move(plan_);
  }

 private:
  std::vector<ir::NodeId> main_nodes() const {
    std::vector<ir::NodeId> nodes;
    for (const ir::NodeId node : ir::nodes(model_, model_.main_graph())) nodes.push_back(node);
    return nodes;
  }

  bool is_main(ir::NodeId node) const { return model_[node].graph == model_.main_graph(); }
  bool is_output_use(const ir::Use& use) const { return model_[use.user].is_outputs; }
  // Traits of what the node calls, if that is an operator of ai.onnx.
  ops::Traits traits(ir::NodeId node) const {
    const ops::Callee& callee = floats_.callees[node];
    const bool is_known = !callee.function && callee.schema && callee.schema->domain.empty();
    return is_known ? ops::traits(model_, node) : ops::Nature::unknown;
  }
  bool is_dequantized(ir::ValueId value) const {
    return model_[value].kind == ir::ValueKind::result && traits(model_[value].producer).decodes();
  }
  bool is_constant(ir::ValueId value) const { return float_constant(model_, value).has_value(); }

  // The role of a node, and why it may not play it.
  void judge(ir::NodeId node) {
    const QdqRole role = role_of(model_, node, floats_.callees[node]);
    if (role == QdqRole::none || (operands_only_ && role != QdqRole::compute)) return;
    roles_[node.index] = role;
    reasons_[node.index] = reason_to_stay(node, role);
  }

  std::string reason_to_stay(ir::NodeId id, QdqRole role) const {
    const ir::Node& node = model_[id];
    if (std::string reason = filter_.refusal(id, floats_.callees[id].schema->name); !reason.empty()) return reason;
    if (!is_main(id)) return "it is in the body of another node";
    bool has_activation = role == QdqRole::activation;
    for (const uint32_t i : data_operands(node, role)) {
      const ir::ValueId value = node.operands[i].value;
      if (floats_.holds[value.index] != Holds::float32) return "its operands are not float32";
      if (is_dequantized(value)) return "it is quantized already";
      const std::optional<tensor::Tensor> constant = float_constant(model_, value);
      if (constant && role != QdqRole::compute) return "a constant operand would lose accuracy for nothing";
      if (constant && constant->count() == 0) return "its weight is empty";
      if (constant && !is_finite(*constant)) return "its weight has NaN or infinity";
      if (constant && operands_only_ && is_small(id, constant->shape())) return "it is too small for it to pay";
      has_activation = has_activation || !constant;
    }
    return has_activation ? "" : "all its operands are constant";
  }

  // Units of tensor cores have 16 inputs and outputs. Convolutions of few channels are faster with integers yet.
  bool is_small(ir::NodeId id, const tensor::Shape& weight) const {
    constexpr int64_t kUnit = 16;
    const bool is_matrix = traits(id).product == ops::ProductKind::matrices && weight.size() >= 2;
    if (is_matrix) return std::min(weight[weight.size() - 2], weight.back()) < kUnit;
    return is_float8_ && weight.size() >= 2 && std::min(weight[0], weight[1]) < kUnit;
  }

  bool may(ir::NodeId node) const { return roles_[node.index] != QdqRole::none && reasons_[node.index].empty(); }

  // From the last node to the first: nodes that are not worth it alone follow those that use their results.
  void select(ir::NodeId id) {
    if (!may(id)) return;
    const QdqRole role = roles_[id.index];
    const ir::Node& node = model_[id];
    const bool is_led = role == QdqRole::compute || leads_[node.results[0].index];
    if (!is_led) {
      if (role == QdqRole::elementwise) reasons_[id.index] = "its result is used as float";
      return;
    }
    plan_.roles[id.index] = role;
    if (role == QdqRole::activation) leads_[node.operands[0].value.index] = true;
    for (const uint32_t i : data_operands(node, role)) {
      const ir::ValueId value = node.operands[i].value;
      if (!is_constant(value)) quantize(value);
    }
  }

  void quantize(ir::ValueId value) {
    plan_.is_quantized[value.index] = true;
    leads_[value.index] = true;
  }

  // Kernels for integers give integers: what a convolution makes is rounded for all users, behind the activation that
  // is merged with it.
  void keep_results(ir::NodeId id) {
    const ops::ProductKind product = traits(id).product;
    const bool is_convolution =
        product == ops::ProductKind::convolution || product == ops::ProductKind::transposed_convolution;
    if (plan_.roles[id.index] != QdqRole::compute || !is_convolution || operands_only_) return;
    ir::ValueId value = model_[id].results[0];
    std::vector<ir::NodeId> merged;
    for (ir::NodeId next = merged_user(value); next; next = merged_user(value)) {
      merged.push_back(next);
      value = model_[next].results[0];
    }
    if (!model_[value].first_use) return;
    for (const ir::Use& use : ir::uses(model_, value)) {
      if (is_output_use(use)) return;
      const ops::Traits user = traits(use.user);
      if (user.is_affine() || user.encodes()) return;
    }
    plan_.is_quantized[value.index] = true;
    for (const ir::NodeId node : merged) plan_.roles[node.index] = QdqRole::activation;
  }

  ir::NodeId merged_user(ir::ValueId value) const {
    const ir::Use* use = model_[value].first_use;
    if (!use || use->next || is_output_use(*use) || plan_.is_quantized[value.index]) return {};
    const bool is_merged = may(use->user) && roles_[use->user.index] == QdqRole::activation && use->index == 0;
    return is_merged ? use->user : ir::NodeId{};
  }

  // A node that only moves numbers gives integers of the scale that it takes.
  void hand_on_range(ir::NodeId id) {
    if (plan_.roles[id.index] != QdqRole::movement) return;
    const ir::ValueId from = model_[id].operands[0].value;
    const ir::ValueId to = model_[id].results[0];
    plan_.range_of[to.index] = plan_.range_of[from.index];
    plan_.is_quantized[to.index] = true;
  }

  void add_layer(ir::NodeId id) {
    const QdqRole role = roles_[id.index];
    if (role != QdqRole::compute && role != QdqRole::elementwise) return;
    plan_.layers.push_back(make_layer(model_, id, reasons_[id.index]));
    plan_.layers.back().converted = plan_.roles[id.index] != QdqRole::none;
  }

  const ir::Model& model_;
  FloatModel floats_;
  bool is_float8_;
  bool operands_only_;
  LayerFilter filter_;
  std::vector<ir::NodeId> nodes_;
  std::vector<QdqRole> roles_;        // by node, before any is left out
  std::vector<std::string> reasons_;  // by node
  std::vector<bool> leads_;           // by value: it comes to a node that works on integers
  QdqPlan plan_;
};

void require_operator_set(const ir::Model& model, const QdqOptions& options) {
  const int64_t version = schema::imported_version(model);
  constexpr int64_t kFirstFloat8 = 19;
  if (options.codes == QdqCodes::float8 && version < kFirstFloat8) {
    fail(ErrorCode::unsupported, "operator set {} has no float8: it needs {} or newer", version, kFirstFloat8);
  }
  constexpr int64_t kFirst = 10;
  constexpr int64_t kFirstPerChannel = 13;
  if (version < kFirst) {
    fail(ErrorCode::unsupported, "operator set {} has no QuantizeLinear: it needs {} or newer", version, kFirst);
  }
  if (options.per_channel && version < kFirstPerChannel) {
    fail(ErrorCode::unsupported,
         "operator set {} has no scales per channel: it needs {} or newer, or one scale for each "
         "tensor",
         version, kFirstPerChannel);
  }
}

}  // namespace

std::vector<std::string> QdqPlan::ranges(const ir::Model& model) const {
  std::set<std::string> names;
  for (uint32_t i = 0; i < is_quantized.size(); ++i) {
    if (is_quantized[i]) names.emplace(model.text(model[range_of[i]].name));
  }
  return {names.begin(), names.end()};
}

QdqPlan plan_qdq(const ir::Model& model, const QdqOptions& options, Diagnostics& findings) {
  check_ops(options.choice.only_ops);
  QdqPlan plan = QdqPlanner(model, options, findings).plan();
  const bool quantizes = std::ranges::any_of(plan.layers, &Layer::converted);
  if (quantizes) require_operator_set(model, options);
  return plan;
}

}  // namespace assay::convert
