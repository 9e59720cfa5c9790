// Normalisations, step by step, in the type that they compute in.
#include "passes/opset/expansions.h"

namespace assay::passes {
namespace {

// From `axis` on, the axes of the first input. Nullopt: its rank is not known, and has to be.
std::optional<std::vector<int64_t>> axes_from(const Draft& draft, int64_t axis) {
  std::vector<int64_t> axes;
  if (axis >= 0) {
    const std::optional<int64_t> rank = draft.rank(0);
    if (!rank) return std::nullopt;
    axis -= *rank;
  }
  for (; axis < 0; ++axis) axes.push_back(axis);
  return axes;
}

DraftValue in_type(Spelling& spelling, DraftValue value, tensor::DType from, tensor::DType to) {
  return from == to ? value : spelling.cast(value, to);
}

// Numbers around their mean, or as they are, divided by the root of the mean of their squares.
DraftValue normalized(Spelling& spelling, DraftValue x, const std::vector<int64_t>& axes, double epsilon,
                      bool has_mean) {
  if (has_mean) x = spelling.add("Sub", {x, spelling.reduce("ReduceMean", x, axes)});
  const DraftValue squares = spelling.reduce("ReduceMean", spelling.add("Mul", {x, x}), axes);
  const DraftValue root = spelling.add("Sqrt", {spelling.add("Add", {squares, spelling.number(epsilon)})});
  return spelling.add("Div", {x, root});
}

Refusal spell_rows(Draft& draft, bool has_mean) {
  Spelling spelling(draft);
  if (Refusal obstacle = spelling.find_obstacle(); !obstacle.empty()) return obstacle;
  const std::optional<std::vector<int64_t>> axes = axes_from(draft, draft.integer("axis", -1));
  if (!axes) return "the rank of its input is not known";
  const tensor::DType own = spelling.dtype();
  const auto computed = static_cast<tensor::DType>(draft.integer("stash_type", 1));
  const double epsilon = draft.floating("epsilon", 1e-5F);
  const DraftValue scale = spelling.operand(1), shift = spelling.operand(2);
  const DraftValue wide = in_type(spelling, spelling.operand(0), own, computed);
  const DraftValue made = normalized(spelling, wide, *axes, epsilon, has_mean);
  const DraftValue rows = in_type(spelling, made, computed, own);
  if (!shift.is_given()) {
    spelling.finish("Mul", {rows, scale});
    return {};
  }
  spelling.finish("Add", {spelling.add("Mul", {rows, scale}), shift});
  return {};
}
Refusal spell_rms_normalization(Draft& draft) { return spell_rows(draft, false); }
Refusal spell_layer_normalization(Draft& draft) { return spell_rows(draft, true); }

// Groups of channels become rows. Factors are by group in the first version, by channel later.
Refusal spell_group_normalization(Draft& draft) {
  constexpr int64_t kByChannel = 21;
  Spelling spelling(draft);
  if (Refusal obstacle = spelling.find_obstacle(); !obstacle.empty()) return obstacle;
  const std::optional<int64_t> rank = draft.rank(0);
  if (!rank || *rank < 2) return "the rank of its input is not known";
  const bool is_by_channel = draft.source().since >= kByChannel;
  const int64_t groups = draft.integer("num_groups", 1);
  const double epsilon = draft.floating("epsilon", 1e-5F);
  const tensor::DType own = spelling.dtype();
  const auto computed =
      static_cast<tensor::DType>(draft.integer("stash_type", is_by_channel ? 1 : static_cast<int>(own)));
  const DraftValue x = spelling.operand(0), scale = spelling.operand(1), shift = spelling.operand(2);
  const DraftValue rows = spelling.add("Reshape", {x, spelling.integers({0, groups, -1})});
  const DraftValue made = normalized(spelling, in_type(spelling, rows, own, computed), {-1}, epsilon, true);
  DraftValue all = in_type(spelling, made, computed, own);
  std::vector<int64_t> column(static_cast<size_t>(is_by_channel ? *rank - 1 : 2), 1);
  column[0] = -1;
  const auto beside = [&](DraftValue factors) { return spelling.add("Reshape", {factors, spelling.integers(column)}); };
  const auto whole = [&](DraftValue value) {
    return spelling.add("Reshape", {value, draft.add({.op = "Shape", .operands = {x}, .dtype = tensor::DType::int64})});
  };
  if (is_by_channel) all = whole(all);
  const DraftValue scaled = spelling.add("Mul", {all, beside(scale)});
  if (is_by_channel) {
    spelling.finish("Add", {scaled, beside(shift)});
    return {};
  }
  const DraftValue sum = spelling.add("Add", {scaled, beside(shift)});
  spelling.finish("Reshape", {sum, draft.add({.op = "Shape", .operands = {x}, .dtype = tensor::DType::int64})});
  return {};
}

}  // namespace

std::span<const Expansion> normalization_expansions() {
  static constexpr Expansion kRows[] = {{"RMSNormalization", spell_rms_normalization},
                                        {"LayerNormalization", spell_layer_normalization},
                                        {"GroupNormalization", spell_group_normalization}};
  return kRows;
}

}  // namespace assay::passes
