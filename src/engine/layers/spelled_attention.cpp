#include "engine/layers/spelled_attention.h"

#include <cmath>
#include <cstdlib>

#include "engine/layers/graph_reader.h"
#include "engine/layers/softmax_dims.h"

namespace assay::engine {
namespace {

class Matcher : NodeRun {
 public:
  Matcher(const ir::Model& model, const ops::Inference& inference, std::span<const ir::NodeId> nodes,
          const ConstantOf& constant)
      : NodeRun(model, inference, nodes, constant) {}

  std::optional<SpelledAttention> match() {
    while (at_ < nodes_.size() && !is("MatMul")) ++at_;
    if (!is("MatMul") || !is_float(operand(0)) || !is_float(operand(1))) return {};
    const ir::ValueId q = operand(0);
    const ir::ValueId k = operand(1);
    scores_ = dims_of(result());
    if (scores_.size() < 2) return {};
    ++at_;
    take_scale();
    if (!take_conditions() || !take_mask() || !is_softmax()) return {};
    ++at_;
    take_zeros();
    const ir::ValueId v = is("MatMul") && operand(0) == given() ? operand(1) : ir::ValueId();
    if (!v.valid() || v == given() || !is_float(v) || !fit({q, k, v})) return {};
    ++at_;
    take_order();
    if (at_ != nodes_.size()) return {};
    take_operands(q, k, v);
    const bool share_alike = found_.k.sharing == found_.v.sharing || found_.k.sharing == 1 || found_.v.sharing == 1;
    return share_alike && std::isfinite(found_.scale) ? std::optional(found_) : std::nullopt;
  }

 private:
  ir::ValueId given() const { return model_[nodes_[at_ - 1]].results.front(); }
  bool is_float(ir::ValueId value) const {
    const std::optional<TensorDesc> desc = value.valid() ? find_desc(model_, inference_, value) : std::nullopt;
    const bool has_type = desc && is_short_float(desc->dtype);
    return has_type && desc->count() > 0;
  }

  void take_scale() {
    const bool divides = is("Div") && operand(0) == given();
    if (!divides && !is("Mul")) return;
    const ir::ValueId other = operand(0) == given() ? operand(1) : operand(0);
    const std::optional<double> factor = number(other);
    if (!factor || dims_of(result()) != scores_) return;
    found_.scale = static_cast<float>(*factor);
    int exponent = 0;
    const bool is_power_of_two = std::fabs(std::frexp(found_.scale, &exponent)) == 0.5F && std::abs(exponent) < 64;
    found_.divides = divides && !is_power_of_two;
    if (divides && is_power_of_two) found_.scale = 1 / found_.scale;  // faster, with equal bits
    ++at_;
  }
  bool take_conditions() {
    if (!is("Where")) return true;
    const bool shows = operand(1) == given();
    const std::optional<double> hidden = number(operand(shows ? 2 : 1));
    found_.conditions = operand(0);
    found_.hidden_where = !shows;
    if (!hidden || operand(shows ? 1 : 2) != given() || dims_of(result()) != scores_) return false;
    if (!std::isfinite(found_.scale) || found_.scale == 0) return false;  // hidden scores are 0 before it
    found_.hidden = static_cast<float>(*hidden);
    ++at_;
    return is_row_of_keys(found_.conditions);
  }
  bool is_row_of_keys(ir::ValueId value) const {
    const tensor::Shape dims = dims_of(value);
    return !dims.empty() && dims.back() == scores_.back();
  }
  // Takes Where(IsNaN(weights), 0, weights).
  void take_zeros() {
    const ir::ValueId weights = given();
    if (!is("IsNaN") || operand(0) != weights) return;
    ++at_;
    const bool zeroes = is("Where") && operand(0) == given() && operand(2) == weights && number(operand(1)) == 0 &&
                        dims_of(result()) == scores_;
    zeroes ? static_cast<void>(++at_) : static_cast<void>(--at_);
    found_.zeroes_no_number = zeroes;
  }
  bool take_mask() {
    if (!is("Add")) return true;
    found_.mask = operand(0) == given() ? operand(1) : operand(0);
    if (found_.mask == given() || !is_float(found_.mask) || dims_of(result()) != scores_) return false;
    ++at_;
    return is_row_of_keys(found_.mask);
  }
  bool is_softmax() const {
    if (!is("Softmax") || operand(0) != given()) return false;
    return softmax_axis(facts(), scores_.size()) == static_cast<int64_t>(scores_.size()) - 1;
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
  // Scales of q and k become those of the scores. What scales values stays outside.
  void take_operands(ir::ValueId q, ir::ValueId k, ir::ValueId v) {
    found_.q = find_scaled_queries(model_, inference_, q, constant_);
    found_.k = find_attention_operand(model_, inference_, {.value = k}, constant_);
    found_.v = find_attention_operand(model_, inference_, {.value = v, .are_values = true}, constant_);
    if (found_.v.scale != 1) found_.v = {.value = v, .are_values = true};
    if (found_.q.scale * found_.k.scale != 1) scale_by(found_.q.scale * found_.k.scale);
    for (const AttentionOperand* const operand : {&found_.q, &found_.k, &found_.v}) {
      found_.before.insert(found_.before.end(), operand->nodes.begin(), operand->nodes.end());
    }
  }
  void scale_by(double factor) {
    const double before = found_.divides ? 1 / static_cast<double>(found_.scale) : static_cast<double>(found_.scale);
    found_.scale = static_cast<float>(before * factor);
    found_.divides = false;
  }
  void take_order() {
    if (!is("Transpose") || operand(0) != given()) return;
    found_.order = facts().integers("perm");
    const size_t rank = scores_.size();
    const bool keeps_rows_whole = found_.order.size() == rank && found_.order.back() == static_cast<int64_t>(rank) - 1;
    if (keeps_rows_whole) ++at_;
  }

  tensor::Shape scores_;
  SpelledAttention found_;
};

}  // namespace

std::optional<SpelledAttention> match_attention(const ir::Model& model, const ops::Inference& inference,
                                                std::span<const ir::NodeId> nodes, const ConstantOf& constant) {
  return Matcher(model, inference, nodes, constant).match();
}

}  // namespace assay::engine
