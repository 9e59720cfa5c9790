#include "engine/layers/quantized_attention.h"

#include <cmath>

#include "engine/layers/graph_reader.h"
#include "engine/layers/softmax_dims.h"

namespace assay::engine {
namespace {

constexpr int64_t kMostTerms = 32768;  // of which the products of any codes add up to 32 bits

class QuantizedMatcher : NodeRun {
 public:
  QuantizedMatcher(const ir::Model& model, const ops::Inference& inference, std::span<const ir::NodeId> nodes,
                   const ConstantOf& constant)
      : NodeRun(model, inference, nodes, constant) {}

  std::optional<QuantizedAttention> match() {
    while (at_ < nodes_.size() && !is("MatMul")) ++at_;
    if (!is("MatMul")) return {};
    if (!take_codes(operand(0), found_.q, found_.q_codes) || !take_codes(operand(1), found_.k, found_.k_codes))
      return {};
    scores_ = dims_of(result());
    if (scores_.size() < 2) return {};
    pass();
    while (take_scale() || take_mask() || take_conditions() || take_requantiser()) continue;
    return take_weights() && take_product() && at_ == nodes_.size() && has_known_sizes() ? std::optional(found_)
                                                                                         : std::nullopt;
  }

 private:
  // Goes on to the node that reads this one; those that dequantise other operands may come before it.
  void pass() {
    given_ = result();
    ++at_;
    while (is("DequantizeLinear") && operand(0) != given_) ++at_;
  }

  // The codes, which are no constants, of which a value is made by one of these nodes.
  bool take_codes(ir::ValueId value, ir::ValueId& codes, Quantizer& quantizer) const {
    for (const ir::NodeId node : nodes_) {
      if (model_[node].results.front() != value || model_.text(model_[node].op) != "DequantizeLinear") continue;
      const std::optional<Quantizer> found = find_quantizer(model_, inference_, node, constant_);
      codes = model_[node].operands[0].value;
      quantizer = found.value_or(Quantizer());
      return found && constant_(codes) == nullptr;
    }
    return false;
  }

  // The other operand, where one of two is what is given.
  ir::ValueId other() const { return operand(0) == given_ ? operand(1) : operand(0); }
  bool keeps_scores() const { return dims_of(result()) == scores_; }
  bool is_row_of_keys(ir::ValueId value) const {
    const tensor::Shape dims = dims_of(value);
    return !dims.empty() && dims.back() == scores_.back();
  }

  bool take_scale() {
    const bool divides = is("Div") && operand(0) == given_;
    if (!divides && !is("Mul")) return false;
    const std::optional<double> factor = number(other());
    if (!factor || !std::isnormal(divides ? 1 / *factor : *factor) || !keeps_scores()) return false;
    found_.changes.push_back({.factor = static_cast<float>(divides ? 1 / *factor : *factor)});
    pass();
    return true;
  }
  bool take_mask() {
    if (!is("Add") || !keeps_scores()) return false;
    const ir::ValueId mask = other();
    if (mask == given_ || desc_of(mask).dtype != tensor::DType::float32 || !is_row_of_keys(mask)) return false;
    found_.changes.push_back({.kind = ScoreChange::Kind::add, .other = mask});
    pass();
    return true;
  }
  bool take_conditions() {
    if (!is("Where") || !keeps_scores() || !is_row_of_keys(operand(0))) return false;
    const bool shows = operand(1) == given_;
    const std::optional<double> hidden = number(operand(shows ? 2 : 1));
    if (!hidden || operand(shows ? 1 : 2) != given_) return false;
    found_.changes.push_back({.kind = ScoreChange::Kind::choose,
                              .other = operand(0),
                              .hidden_where = !shows,
                              .number = static_cast<float>(*hidden)});
    pass();
    return true;
  }

  // Takes a QuantizeLinear here, and the DequantizeLinear behind it.
  bool take_quantisers(Quantizer& to, Quantizer& from) {
    if (!is("QuantizeLinear") || operand(0) != given_) return false;
    const std::optional<Quantizer> made = find_quantizer(model_, inference_, nodes_[at_], constant_);
    if (!made) return false;
    pass();
    if (!is("DequantizeLinear") || operand(0) != given_) return false;
    const std::optional<Quantizer> read = find_quantizer(model_, inference_, nodes_[at_], constant_);
    if (!read) return false;
    pass();
    to = *made;
    from = *read;
    return true;
  }
  bool take_requantiser() {
    ScoreChange change{.kind = ScoreChange::Kind::requantise};
    if (!take_quantisers(change.to, change.from)) return false;
    found_.changes.push_back(change);
    return true;
  }

  bool take_weights() {
    if (!is("Softmax") || operand(0) != given_) return false;
    if (softmax_axis(facts(), scores_.size()) != static_cast<int64_t>(scores_.size()) - 1) return false;
    pass();
    return take_quantisers(found_.weights, found_.weights_read);
  }

  bool take_product() {
    if (!is("MatMul") || operand(0) != given_ || !take_codes(operand(1), found_.v, found_.v_codes)) return false;
    if (!fit({found_.q, found_.k, found_.v})) return false;
    pass();
    // In either order: codes are what they are wherever they lie.
    while ((found_.order.empty() && take_order()) || (!found_.result && take_result())) continue;
    return true;
  }
  bool take_order() {
    if (!is("Transpose") || operand(0) != given_) return false;
    const std::vector<int64_t> order = facts().integers("perm");
    const size_t rank = scores_.size();
    if (order.size() != rank || order.back() != static_cast<int64_t>(rank) - 1) return false;
    found_.order = order;
    pass();
    return true;
  }
  bool take_result() {
    if (!is("QuantizeLinear") || operand(0) != given_) return false;
    found_.result = find_quantizer(model_, inference_, nodes_[at_], constant_);
    if (found_.result) pass();
    return found_.result.has_value();
  }

  // True if all operands have the same items, or one for all.
  bool fit(std::initializer_list<ir::ValueId> operands) const {
    for (const ir::ValueId value : operands) {
      const tensor::Shape dims = dims_of(value);
      if (dims.size() != scores_.size()) return false;
      for (size_t i = 0; i + 2 < dims.size(); ++i) {
        if (dims[i] != 1 && dims[i] != scores_[i]) return false;
      }
    }
    return true;
  }
  bool has_known_sizes() const {
    const int64_t depth = dims_of(found_.q).back();
    return found_.changes.size() <= kMostScoreChanges && desc_of(found_.q).count() > 0 &&
           desc_of(found_.k).count() > 0 && desc_of(found_.v).count() > 0 && depth <= kMostTerms &&
           scores_.back() <= kMostTerms;
  }

  ir::ValueId given_;  // result of the last node that was passed
  tensor::Shape scores_;
  QuantizedAttention found_;
};

}  // namespace

std::optional<QuantizedAttention> match_quantized_attention(const ir::Model& model, const ops::Inference& inference,
                                                            std::span<const ir::NodeId> nodes,
                                                            const ConstantOf& constant) {
  return QuantizedMatcher(model, inference, nodes, constant).match();
}

}  // namespace assay::engine
