#include "surgery/strippable.h"

#include <array>
#include <map>
#include <span>
#include <string_view>
#include <tuple>

#include "ir/walk.h"
#include "ops/traits.h"
#include "schema/schema.h"

namespace assay::surgery {
namespace {

using ir::ValueId;

constexpr uint32_t kAll = UINT32_MAX;
constexpr uint64_t kLarge = 1024;

// The operands of an operator that are weights, and the least number of their elements.
struct WeightRule {
  std::string_view op;
  uint32_t operands;  // the first so many
  uint64_t least_elements;
};

constexpr std::array kRules = {WeightRule{"Gather", 1, kLarge}, WeightRule{"Slice", 1, kLarge}};
constexpr WeightRule kProduct = {"", kAll, 1};
constexpr WeightRule kUnknownOperator = {"", kAll, kLarge};

bool has_weights(ops::ProductKind kind) {
  return kind != ops::ProductKind::other && kind != ops::ProductKind::contraction;
}

bool is_followed(std::string_view domain, std::string_view op) {
  const ops::Traits& traits = ops::traits(domain, op);
  return traits.is(ops::Nature::quantization) || traits.moves == ops::Moves::by_dims;
}

class WeightSearch {
 public:
  explicit WeightSearch(const ir::Model& model)
      : model_(model), least_(model.value_slots(), kNever), is_weight_(model.value_slots()) {
    for (const ir::Function& function : model.functions()) {
      functions_[{function.domain, function.name, function.overload}] = &function;
    }
  }

  std::vector<ValueId> run() {
    for (const ir::NodeId node : ir::live_nodes(model_)) visit(model_[node]);
    while (!pending_.empty()) {
      const ValueId value = pending_.back();
      pending_.pop_back();
      follow(value);
    }
    return in_order();
  }

 private:
  using Key = std::tuple<ir::Symbol, ir::Symbol, ir::Symbol>;
  static constexpr uint64_t kNever = UINT64_MAX;

  const ir::Function* callee(const ir::Node& node) const {
    const auto found = functions_.find({node.domain, node.op, node.overload});
    return found == functions_.end() ? nullptr : found->second;
  }

  void visit(const ir::Node& node) {
    if (const ir::Function* function = callee(node)) {
      const std::vector<ValueId>& inputs = model_[function->body].inputs;
      for (size_t i = 0; i < inputs.size() && i < node.operands.size(); ++i) {
        if (node.operands[i].value) arguments_[inputs[i]].push_back(node.operands[i].value);
      }
      return;
    }
    const WeightRule* const rule = rule_of(node);
    if (!rule) return;
    for (uint32_t i = 0; i < node.operands.size() && i < rule->operands; ++i) {
      reach(node.operands[i].value, rule->least_elements);
    }
  }

  const WeightRule* rule_of(const ir::Node& node) const {
    const std::string_view op = model_.text(node.op);
    if (has_weights(ops::traits("", op).product)) return &kProduct;
    for (const WeightRule& rule : kRules) {
      if (rule.op == op) return &rule;
    }
    for (const std::string_view domain : {"", "ai.onnx.ml", "ai.onnx.preview.training"}) {
      if (schema::is_known_operator(domain, op)) return nullptr;
    }
    return &kUnknownOperator;
  }

  // A value is followed again only where a smaller weight counts than before.
  void reach(ValueId value, uint64_t least_elements) {
    if (!value || least_[value.index] <= least_elements) return;
    least_[value.index] = least_elements;
    pending_.push_back(value);
  }

  void follow(ValueId id) {
    const ir::Value& value = model_[id];
    const uint64_t least = least_[id.index];
    if (value.constant) is_weight_[id.index] = is_strippable(model_[value.constant], least);
    if (value.producer) {
      const ir::Node& node = model_[value.producer];
      if (is_followed(model_.text(node.domain), model_.text(node.op)) && !node.operands.empty())
        reach(node.operands[0].value, least);
      return;
    }
    const auto arguments = arguments_.find(id);
    if (arguments == arguments_.end()) return;
    for (const ValueId argument : arguments->second) reach(argument, least);
  }

  static bool is_strippable(const ir::TensorEntry& entry, uint64_t least_elements) {
    const tensor::DType dtype = entry.tensor.dtype();
    const bool has_type = !entry.sparse && tensor::bit_width(dtype) > 0 && dtype != tensor::DType::uint8;
    return has_type && entry.tensor.count() >= least_elements;
  }

  std::vector<ValueId> in_order() const {
    std::vector<ValueId> weights;
    for (uint32_t i = 0; i < model_.graph_slots(); ++i) {
      for (const ValueId id : model_[ir::GraphId{i}].initializers) {
        if (model_[id].alive && is_weight_[id.index]) weights.push_back(id);
      }
    }
    return weights;
  }

  const ir::Model& model_;
  std::map<Key, const ir::Function*> functions_;
  std::map<ValueId, std::vector<ValueId>> arguments_;  // arguments that calls give for the inputs of functions
  std::vector<uint64_t> least_;                        // by value: least number of elements of a weight
  std::vector<bool> is_weight_;                        // by value
  std::vector<ValueId> pending_;
};

}  // namespace

std::vector<ValueId> strippable_weights(const ir::Model& model) { return WeightSearch(model).run(); }

}  // namespace assay::surgery
