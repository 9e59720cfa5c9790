#include "passes/opset/expansions.h"

#include <algorithm>
#include <array>

namespace assay::passes {

const Expansion* find_expansion(std::string_view op) {
  static const std::array kGroups = {function_expansions(), normalization_expansions(), attention_expansions()};
  for (const std::span<const Expansion> group : kGroups) {
    const auto found = std::ranges::find(group, op, &Expansion::op);
    if (found != group.end()) return &*found;
  }
  return nullptr;
}

Refusal Spelling::find_obstacle() const {
  if (!tensor::is_known(dtype_)) return "the type of its first input is not known";
  for (size_t result = 1; result < draft_.result_count(); ++result) {
    if (draft_.has_result(result)) return "it has more than one output";
  }
  return draft_.result_count() > 1 ? "it has outputs that are left out" : "";
}

DraftValue Spelling::add(std::string_view op, std::vector<DraftValue> operands, std::vector<ir::Attribute> attributes) {
  return draft_.add({.op = op, .operands = std::move(operands), .attributes = std::move(attributes), .dtype = dtype_});
}

DraftValue Spelling::cast(DraftValue value, tensor::DType dtype) {
  dtype_ = dtype;
  return add("Cast", {value}, {attribute("to", static_cast<int64_t>(dtype))});
}

DraftValue Spelling::reduce(std::string_view op, DraftValue value, const std::vector<int64_t>& axes) {
  constexpr int64_t kAxesAreInputs = 18;
  if (draft_.target() >= kAxesAreInputs) return add(op, {value, integers(axes)});
  return add(op, {value}, {attribute("axes", axes)});
}

void Spelling::finish(std::string_view op, const std::vector<DraftValue>& operands,
                      const std::vector<ir::Attribute>& attributes) {
  const std::vector<ir::Attribute> old = draft_.attributes();
  for (const ir::Attribute& attribute : old) draft_.drop(draft_.model().text(attribute.name()));
  while (!draft_.operands().empty()) draft_.drop_operand(draft_.operands().size() - 1);
  for (size_t i = 0; i < operands.size(); ++i) draft_.set_operand(i, operands[i]);
  for (const ir::Attribute& attribute : attributes) draft_.set(attribute);
  draft_.set_op(op);
}

}  // namespace assay::passes
