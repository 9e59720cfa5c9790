#include "convert/quantize/qdq_rules.h"

#include <algorithm>
#include <array>

#include "ir/written.h"
#include "ops/traits.h"

namespace assay::convert {
namespace {

struct Rule {
  std::string_view op;
  QdqRole role;
};

constexpr std::array<Rule, 21> kRules = {{
    {"Add", QdqRole::elementwise},       {"AveragePool", QdqRole::elementwise},
    {"Clip", QdqRole::activation},       {"Concat", QdqRole::elementwise},
    {"Conv", QdqRole::compute},          {"ConvTranspose", QdqRole::compute},
    {"DepthToSpace", QdqRole::movement}, {"Flatten", QdqRole::movement},
    {"Gemm", QdqRole::compute},          {"GlobalAveragePool", QdqRole::elementwise},
    {"MatMul", QdqRole::compute},        {"MaxPool", QdqRole::movement},
    {"Mul", QdqRole::elementwise},       {"Relu", QdqRole::activation},
    {"Reshape", QdqRole::movement},      {"Resize", QdqRole::movement},
    {"Slice", QdqRole::movement},        {"SpaceToDepth", QdqRole::movement},
    {"Squeeze", QdqRole::movement},      {"Transpose", QdqRole::movement},
    {"Unsqueeze", QdqRole::movement},
}};

// Cubic interpolation leaves the range of the numbers that it is given.
bool stays_in_range(const ir::Model& model, const ir::Node& node) {
  return ir::written_word(model, node, "mode") != "cubic";
}

// The constant that is added to a value that nothing else uses.
std::optional<Place> added_constant(const ir::Model& model, ir::ValueId value) {
  const ir::Use* use = model[value].first_use;
  if (!use || use->next || model[use->user].is_outputs) return std::nullopt;
  const ir::Node& user = model[use->user];
  const bool is_sum = model.text(user.op) == "Add" && model.text(user.domain).empty() && user.operands.size() == 2;
  if (!is_sum || user.graph != model[value].graph) return std::nullopt;
  return Place{use->user, 1 - use->index};
}

}  // namespace

bool is_one(const ir::Model& model, const ir::Node& node, std::string_view name) {
  return model.find_attribute(node, name) == nullptr || ir::written_float(model, node, name) == 1;
}

std::vector<std::string> quantizable_ops() {
  std::vector<std::string> ops;
  for (const Rule& rule : kRules) ops.emplace_back(rule.op);
  return ops;
}

QdqRole role_of(const ir::Model& model, ir::NodeId id, const ops::Callee& callee) {
  const ir::Node& node = model[id];
  if (callee.function || !callee.schema || !callee.schema->domain.empty()) return QdqRole::none;
  const auto* rule = std::ranges::find(kRules, callee.schema->name, &Rule::op);
  if (rule == kRules.end() || node.operands.empty() || node.results.size() != 1 || !node.results[0]) {
    return QdqRole::none;
  }
  if (rule->op == "Resize" && !stays_in_range(model, node)) return QdqRole::none;
  return rule->role;
}

std::vector<uint32_t> data_operands(const ir::Node& node, QdqRole role) {
  uint32_t count = role == QdqRole::none || role == QdqRole::activation ? 0 : 1;
  if (role == QdqRole::compute) count = 2;
  if (role == QdqRole::elementwise) count = static_cast<uint32_t>(node.operands.size());
  std::vector<uint32_t> operands;
  for (uint32_t i = 0; i < count && i < node.operands.size(); ++i) {
    if (node.operands[i].value) operands.push_back(i);
  }
  return operands;
}

std::optional<uint32_t> channel_axis(const ir::Model& model, ir::NodeId id, uint32_t operand, size_t rank) {
  const ops::ProductKind product = ops::traits(model, id).product;
  if (operand != 1 || rank < 2) return std::nullopt;
  if (product == ops::ProductKind::convolution) return 0;
  if (product == ops::ProductKind::transposed_convolution) return 1;
  // Integer kernels take one scale for a stack of matrices.
  if (product != ops::ProductKind::matrices || rank != 2) return std::nullopt;
  return ir::written_integer(model, model[id], "transB").value_or(0) != 0 ? 0 : 1;
}

std::optional<Place> bias_place(const ir::Model& model, ir::NodeId id) {
  constexpr uint32_t kBias = 2;
  const ir::Node& node = model[id];
  const ops::Traits& traits = ops::traits(model, id);
  if (traits.product == ops::ProductKind::matrices && !traits.has_bias) return added_constant(model, node.results[0]);
  if (!traits.has_bias || node.operands.size() <= kBias || !node.operands[kBias].value) return std::nullopt;
  const bool is_plain = is_one(model, node, "alpha") && is_one(model, node, "beta");
  return is_plain ? std::optional(Place{id, kBias}) : std::nullopt;
}

}  // namespace assay::convert
