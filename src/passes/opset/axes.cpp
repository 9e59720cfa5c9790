// Axes that became an input: Squeeze, Unsqueeze and ReduceSum in version 13, the other reductions in 18, DFT in 20.
#include "passes/opset/adapters.h"

namespace assay::passes {
namespace {

constexpr size_t kAxes = 1;

Refusal axes_to_input(Draft& draft) {
  to_input(draft, "axes", kAxes);
  return {};
}

Refusal axes_to_attribute(Draft& draft) { return to_attribute(draft, kAxes, "axes"); }

// An empty attribute would mean all dims of size 1, where an empty input means none.
Refusal lower_squeeze(Draft& draft) {
  const std::optional<std::vector<int64_t>> axes = draft.known_integers(kAxes);
  if (!axes || !axes->empty()) return axes_to_attribute(draft);
  draft.drop_operand(kAxes);
  draft.set_op("Identity");
  return {};
}

// Without axes, or with none in the list, a reduction is over all of them, unless `noop_with_empty_axes` says over
// none.
Refusal lower_reduction(Draft& draft) {
  const std::optional<std::vector<int64_t>> axes = draft.known_integers(kAxes);
  const bool has_no_axes = !draft.has(kAxes) || (axes && axes->empty());
  if (has_no_axes && draft.integer("noop_with_empty_axes", 0) != 0) {
    return "with `noop_with_empty_axes` it reduces nothing, which the older version cannot express";
  }
  if (has_no_axes) draft.drop_operand(kAxes);
  Refusal refusal = axes_to_attribute(draft);
  if (refusal.empty()) draft.drop("noop_with_empty_axes");
  return refusal;
}

Refusal raise_reduction(Draft& draft) {
  const bool is_empty = draft.integers("axes").empty();
  if (is_empty) draft.drop("axes");
  return axes_to_input(draft);
}

constexpr size_t kDftAxis = 2;

Refusal raise_dft(Draft& draft) {
  const int64_t axis = draft.integer("axis", 1);
  draft.drop("axis");
  draft.set_operand(kDftAxis, draft.add_constant(ops::make_rounded(tensor::DType::int64, {}, std::vector{axis})));
  return {};
}

Refusal lower_dft(Draft& draft) {
  const std::optional<std::vector<int64_t>> axis =
      draft.has(kDftAxis) ? draft.known_integers(kDftAxis) : std::vector<int64_t>{-2};
  if (!axis || axis->size() != 1) return "its axis is computed, and an attribute in the older version";
  draft.drop_operand(kDftAxis);
  draft.set("axis", (*axis)[0]);
  return {};
}

}  // namespace

std::span<const Adapter> axes_adapters() {
  static constexpr Adapter kRows[] = {
      {"Squeeze", 13, axes_to_input, lower_squeeze},
      {"Unsqueeze", 13, axes_to_input, axes_to_attribute},
      {"ReduceSum", 13, raise_reduction, lower_reduction},
      {"ReduceL1", 18, raise_reduction, lower_reduction},
      {"ReduceL2", 18, raise_reduction, lower_reduction},
      {"ReduceLogSum", 18, raise_reduction, lower_reduction},
      {"ReduceLogSumExp", 18, raise_reduction, lower_reduction},
      {"ReduceMax", 18, raise_reduction, lower_reduction},
      {"ReduceMean", 18, raise_reduction, lower_reduction},
      {"ReduceMin", 18, raise_reduction, lower_reduction},
      {"ReduceProd", 18, raise_reduction, lower_reduction},
      {"ReduceSumSquare", 18, raise_reduction, lower_reduction},
      {"DFT", 20, raise_dft, lower_dft},
  };
  return kRows;
}

}  // namespace assay::passes
