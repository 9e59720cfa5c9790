#include "engine/spelled_attention.h"

#include <cmath>
#include <cstdlib>

#include "tensor/elements.h"

namespace assay::engine {
namespace {

class Matcher {
 public:
  Matcher(const ir::Model& model, const ops::Inference& inference, std::span<const ir::NodeId> nodes,
          const ConstantOf& constant)
      : model_(model), inference_(inference), nodes_(nodes), constant_(constant) {}

  std::optional<SpelledAttention> match() {
    if (!is("MatMul")) return {};
    found_.q = operand(0);
    found_.k = operand(1);
    scores_ = dims_of(result());
    if (!is_float(found_.q) || !is_float(found_.k) || scores_.size() < 2) return {};
    ++at_;
    take_scale();
    if (!take_mask() || !is_softmax()) return {};
    ++at_;
    if (!is("MatMul") || operand(0) != given() || !is_float(operand(1)) || operand(1) == given()) return {};
    found_.v = operand(1);
    if (!fit()) return {};
    ++at_;
    take_order();
    return at_ == nodes_.size() ? std::optional(found_) : std::nullopt;
  }

 private:
  bool is(std::string_view op) const {
    if (at_ >= nodes_.size()) return false;
    const ir::Node& node = model_[nodes_[at_]];
    return model_.text(node.op) == op && model_.text(node.domain).empty() &&
           inference_.callees()[nodes_[at_]].op != nullptr;
  }
  ir::ValueId operand(uint32_t index) const {
    const ir::Node& node = model_[nodes_[at_]];
    return index < node.operands.size() ? node.operands[index].value : ir::ValueId{};
  }
  ir::ValueId result() const { return model_[nodes_[at_]].results.front(); }
  ir::ValueId given() const { return model_[nodes_[at_ - 1]].results.front(); }
  ops::Node facts() const {
    const ops::Callee& callee = inference_.callees()[nodes_[at_]];
    return {model_, model_[nodes_[at_]], callee.schema, callee.version, nullptr};
  }
  tensor::Shape dims_of(ir::ValueId value) const {
    return find_desc(model_, inference_, value).value_or(TensorDesc()).dims;
  }
  bool is_float(ir::ValueId value) const {
    const std::optional<TensorDesc> desc = value.valid() ? find_desc(model_, inference_, value) : std::nullopt;
    return desc && desc->dtype == tensor::DType::float32 && desc->count() > 0;
  }

  void take_scale() {
    const bool divides = is("Div") && operand(0) == given();
    if (!divides && !is("Mul")) return;
    const ir::ValueId other = operand(0) == given() ? operand(1) : operand(0);
    const tensor::Tensor* const number = constant_(other);
    if (number == nullptr || number->count() != 1 || dims_of(result()) != scores_) return;
    found_.scale = static_cast<float>(tensor::load_elements<double>(*number).front());
    int exponent = 0;
    const bool is_power_of_two = std::fabs(std::frexp(found_.scale, &exponent)) == 0.5F && std::abs(exponent) < 64;
    found_.divides = divides && !is_power_of_two;
    if (divides && is_power_of_two) found_.scale = 1 / found_.scale;  // the same bits, faster
    ++at_;
  }
  bool take_mask() {
    if (!is("Add")) return true;
    found_.mask = operand(0) == given() ? operand(1) : operand(0);
    if (found_.mask == given() || !is_float(found_.mask) || dims_of(result()) != scores_) return false;
    const tensor::Shape dims = dims_of(found_.mask);
    if (dims.empty() || dims.back() != scores_.back()) return false;
    ++at_;
    return true;
  }
  bool is_softmax() const {
    if (!is("Softmax") || operand(0) != given()) return false;
    constexpr int64_t kFirstOverOneAxis = 13;
    const ops::Node softmax = facts();
    const auto rank = static_cast<int64_t>(scores_.size());
    const int64_t axis = softmax.integer("axis", softmax.version() < kFirstOverOneAxis ? 1 : -1);
    return ops::normalize_axis(axis, rank) == rank - 1;
  }
  // The same items in all operands, or one for all.
  bool fit() const {
    for (const ir::ValueId value : {found_.q, found_.k, found_.v}) {
      const tensor::Shape dims = dims_of(value);
      if (dims.size() != scores_.size()) return false;
      for (size_t i = 0; i + 2 < dims.size(); ++i) {
        if (dims[i] != 1 && dims[i] != scores_[i]) return false;
      }
    }
    return true;
  }
  void take_order() {
    if (!is("Transpose") || operand(0) != given()) return;
    found_.order = facts().integers("perm");
    const size_t rank = scores_.size();
    const bool keeps_rows_whole = found_.order.size() == rank && found_.order.back() == static_cast<int64_t>(rank) - 1;
    if (keeps_rows_whole) ++at_;
  }

  const ir::Model& model_;
  const ops::Inference& inference_;
  std::span<const ir::NodeId> nodes_;
  const ConstantOf& constant_;
  size_t at_ = 0;
  tensor::Shape scores_;
  SpelledAttention found_;
};

}  // namespace

std::optional<SpelledAttention> match_attention(const ir::Model& model, const ops::Inference& inference,
                                                std::span<const ir::NodeId> nodes, const ConstantOf& constant) {
  return Matcher(model, inference, nodes, constant).match();
}

}  // namespace assay::engine
