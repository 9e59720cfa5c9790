// Softmax, LogSoftmax and Hardmax: before version 13 all dims from `axis` on are one, the default is 1; from then on
// `axis` is a single one, the default is the last.
#include <algorithm>

#include "passes/opset/adapters.h"

namespace assay::passes {
namespace {

// True if all dims behind the axis are 1, so that both mean the same.
bool is_last(const ops::Dims& dims, int64_t axis) {
  return std::all_of(dims.begin() + axis + 1, dims.end(), [](const ops::Dim& dim) { return dim.number() == 1; });
}

std::optional<int64_t> single_axis(const ops::Dims& dims, int64_t axis) {
  const auto rank = static_cast<int64_t>(dims.size());
  if (axis < -rank || axis >= rank) return std::nullopt;
  const int64_t positive = axis < 0 ? axis + rank : axis;
  return is_last(dims, positive) ? std::optional(positive) : std::nullopt;
}

// True if a Reshape to the shape of this value, where 0 means a copied dim, gives it back from [rows, columns].
bool is_safe_target(const ops::Type& type, int64_t axis) {
  if (!type.is_tensor() || !type.dims) return false;
  for (size_t i = 0; i < type.dims->size(); ++i) {
    const bool is_copied = i == 0 && axis != 0;
    if (!is_copied && (*type.dims)[i].number().value_or(0) <= 0) return false;
  }
  return true;
}

// Rows and columns, the operator on columns, and the shape of before.
Refusal raise_softmax(Draft& draft) {
  constexpr int64_t kAllowZero = 14;
  const int64_t axis = draft.integer("axis", 1);
  const ops::Type type = draft.type(0);
  const std::optional<int64_t> single = type.is_tensor() && type.dims ? single_axis(*type.dims, axis) : std::nullopt;
  draft.set("axis", single.value_or(-1));
  if (single) return {};
  const DraftValue data = draft.operand(0);
  DraftNode back{.op = "Reshape", .operands = {draft.add({.op = "Shape", .operands = {data}})}};
  if (draft.target() >= kAllowZero) {
    back.attributes.push_back(draft.attribute("allowzero", 1));
  } else if (!is_safe_target(type, axis)) {
    return "it is over several axes of unknown lengths, which takes a Reshape of version 14";
  }
  const ir::Attribute split = draft.attribute("axis", axis);
  draft.set_operand(0, draft.add({.op = "Flatten", .operands = {data}, .attributes = {split}}));
  draft.follow(0, std::move(back));
  return {};
}

// An axis that is not the last one becomes so, and is put back.
Refusal lower_softmax(Draft& draft) {
  const int64_t axis = draft.integer("axis", -1);
  const ops::Type type = draft.type(0);
  if (axis == -1) {
    draft.set("axis", axis);
    return {};
  }
  if (!type.is_tensor() || !type.dims) return "the rank of its input is not known";
  const auto rank = static_cast<int64_t>(type.dims->size());
  if (axis < -rank || axis >= rank) return "its axis is out of range";
  const int64_t positive = axis < 0 ? axis + rank : axis;
  draft.set("axis", is_last(*type.dims, positive) ? positive : rank - 1);
  if (is_last(*type.dims, positive)) return {};
  std::vector<int64_t> order(static_cast<size_t>(rank));
  for (int64_t i = 0; i < rank; ++i) order[static_cast<size_t>(i)] = i;
  std::swap(order[static_cast<size_t>(positive)], order.back());
  const ir::Attribute perm = draft.attribute("perm", order);
  draft.set_operand(
      0, draft.add({.op = "Transpose", .operands = {draft.operand(0)}, .attributes = {perm}, .dtype = draft.dtype(0)}));
  draft.follow(0, {.op = "Transpose", .operands = {}, .attributes = {perm}});
  return {};
}

}  // namespace

std::span<const Adapter> softmax_adapters() {
  static constexpr Adapter kRows[] = {
      {"Softmax", 13, raise_softmax, lower_softmax},
      {"LogSoftmax", 13, raise_softmax, lower_softmax},
      {"Hardmax", 13, raise_softmax, lower_softmax},
  };
  return kRows;
}

}  // namespace assay::passes
