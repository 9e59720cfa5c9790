#include "debug/accuracy/quantizers.h"

#include <algorithm>
#include <cmath>

#include "ir/naming.h"
#include "ir/queries.h"
#include "ir/walk.h"
#include "ir/written.h"
#include "tensor/elements.h"

namespace assay::debug {
namespace {

using ir::NodeId;
using ir::ValueId;

class Finder {
 public:
  Finder(const ir::Model& model, const ir::Model& other, const std::map<ValueId, ValueId>& values,
         const std::vector<NodeId>& nodes)
      : model_(model), other_(other), values_(values), nodes_(nodes) {}

  Quantizers run() {
    for (const NodeId node : ir::nodes(model_, model_.main_graph())) visit(node);
    return std::move(found_);
  }

 private:
  void visit(NodeId node) {
    NodeId theirs = node.index < nodes_.size() ? nodes_[node.index] : NodeId();
    for (const ValueId result : model_[node].results) {
      const auto like = values_.find(result);
      if (!result || like == values_.end()) continue;
      NodeId maker = ir::producer(other_, like->second);
      if (is(maker, "DequantizeLinear")) {
        add(node, result, dequantized(maker));
        maker = before_quantizer(maker);
      }
      if (maker) theirs = maker;
    }
    if (!theirs) return;
    const NodeId before = ir::producer(model_, ir::operand(model_, node, 0));
    if (is(theirs, model_.text(model_[node].op)))
      take_operands(node, theirs);
    else if (before && !values_.contains(ir::result(model_, before)) && is(theirs, model_.text(model_[before].op)))
      take_folded(before, node, theirs);  // a quantizer does what the node did
    else
      take_integers(node, theirs);
  }

  bool is(NodeId node, std::string_view op) const { return node && other_.text(other_[node].op) == op; }

  // The layer whose result a quantizer and this node give back; none if its codes are made otherwise.
  NodeId before_quantizer(NodeId dequantizer) const {
    const NodeId maker = ir::producer(other_, ir::operand(other_, dequantizer, 0));
    return is(maker, "QuantizeLinear") ? ir::producer(other_, ir::operand(other_, maker, 0)) : maker;
  }

  Quantizer dequantized(NodeId node) const {
    return {.codes = ir::operand(other_, node, 0),
            .scale = ir::operand(other_, node, 1),
            .zero_point = ir::operand(other_, node, 2),
            .axis = ir::written_integer(other_, other_[node], "axis").value_or(1),
            .block = ir::written_integer(other_, other_[node], "block_size").value_or(0)};
  }

  void add(NodeId node, ValueId value, const Quantizer& quantizer) {
    const NodeId maker = ir::producer(model_, value);
    const bool has_own = maker && model_.text(model_[maker].op) == "DequantizeLinear";
    if (value && quantizer.codes && quantizer.scale && !has_own) found_[node].insert_or_assign(value, quantizer);
  }

  void take_operands(NodeId node, NodeId theirs) {
    const size_t count = std::min(model_[node].operands.size(), other_[theirs].operands.size());
    for (uint32_t i = 0; i < count; ++i) {
      const NodeId maker = ir::producer(other_, ir::operand(other_, theirs, i));
      if (is(maker, "DequantizeLinear")) add(node, ir::operand(model_, node, i), dequantized(maker));
    }
  }

  // The operands of a layer whose follower is folded into it.
  void take_folded(NodeId node, NodeId follower, NodeId theirs) {
    take_operands(node, theirs);
    const bool is_folded =
        model_.text(model_[follower].op) == "BatchNormalization" && model_.text(model_[node].op) == "Conv";
    const auto weights = found_[node].find(ir::operand(model_, node, 1));
    if (is_folded && weights != found_[node].end()) weights->second.factors = factors_of(follower);
  }

  std::vector<double> numbers_of(ValueId value) const {
    const ir::TensorId constant = value ? model_[value].constant : ir::TensorId();
    return constant ? tensor::load_elements<double>(model_[constant].tensor) : std::vector<double>();
  }

  // Factors by which a BatchNormalization multiplies each channel; empty if they are not known.
  std::vector<double> factors_of(NodeId node) const {
    std::vector<double> factors = numbers_of(ir::operand(model_, node, 1));
    const std::vector<double> variances = numbers_of(ir::operand(model_, node, 4));
    const double added{ir::written_float(model_, model_[node], "epsilon").value_or(1e-5F)};
    if (variances.size() != factors.size()) return {};
    for (size_t i = 0; i < factors.size(); ++i) factors[i] /= std::sqrt(variances[i] + added);
    const bool are_usable =
        std::ranges::all_of(factors, [](double factor) { return factor != 0 && std::isfinite(factor); });
    return are_usable ? factors : std::vector<double>();
  }

  // A product of integers, which is scaled afterwards.
  void take_integers(NodeId node, NodeId theirs) {
    if (is(theirs, "Add")) theirs = maker_among(theirs, "Mul");
    const NodeId cast = is(theirs, "Mul") ? maker_among(theirs, "Cast") : NodeId();
    const NodeId scale = is(theirs, "Mul") ? maker_among(theirs, "Mul") : NodeId();
    if (!cast || !scale) return;
    const NodeId product = ir::producer(other_, ir::operand(other_, cast, 0));
    if (!is(product, "MatMulInteger") && !is(product, "ConvInteger")) return;
    const NodeId coder = ir::producer(other_, ir::operand(other_, product, 0));
    if (!is(coder, "DynamicQuantizeLinear")) return;
    const ValueId of_data = ir::result(other_, coder, 1);
    ValueId of_weights = ir::operand(other_, scale, 0);
    if (of_weights == of_data) of_weights = ir::operand(other_, scale, 1);
    add(node, ir::operand(model_, node, 0),
        {.codes = ir::result(other_, coder, 0), .scale = of_data, .zero_point = ir::result(other_, coder, 2)});
    add(node, ir::operand(model_, node, 1),
        {.codes = ir::operand(other_, product, 1),
         .scale = of_weights,
         .zero_point = ir::operand(other_, product, 3),
         .axis = is(product, "ConvInteger") ? 0 : -1,
         .is_turned = ir::written_integer(model_, model_[node], "transB").value_or(0) != 0});
  }

  NodeId maker_among(NodeId node, std::string_view op) const {
    for (const ir::Use& use : other_[node].operands) {
      const NodeId maker = ir::producer(other_, use.value);
      if (is(maker, op)) return maker;
    }
    return {};
  }

  const ir::Model& model_;
  const ir::Model& other_;
  const std::map<ValueId, ValueId>& values_;
  const std::vector<NodeId>& nodes_;
  Quantizers found_;
};

// The result of the only use of a value; none if there are others.
ValueId only_result(const ir::Model& model, ValueId value, std::string_view op) {
  std::vector<NodeId> users;
  for (const ir::Use& use : ir::uses(model, value)) users.push_back(use.user);
  if (users.size() != 1 || model[users[0]].is_outputs || model.text(model[users[0]].op) != op) return {};
  return ir::result(model, users[0]);
}

}  // namespace

void pair_clipped(const ir::Model& model, const ir::Model& other, std::map<ValueId, ValueId>& values) {
  for (auto& [mine, theirs] : values) {
    const NodeId node = ir::producer(model, mine), maker = ir::producer(other, theirs);
    if (!node || !maker || model.text(model[node].op) == other.text(other[maker].op)) continue;
    if (model.text(model[node].op) != "Relu" && model.text(model[node].op) != "Clip") continue;
    const ValueId codes = only_result(other, theirs, "QuantizeLinear");
    const ValueId numbers = codes ? only_result(other, codes, "DequantizeLinear") : ValueId();
    if (numbers) theirs = numbers;
  }
}

Quantizers find_quantizers(const ir::Model& model, const ir::Model& other, const std::map<ValueId, ValueId>& values,
                           const std::vector<NodeId>& nodes) {
  return Finder(model, other, values, nodes).run();
}

}  // namespace assay::debug
