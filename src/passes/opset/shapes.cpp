// Operators on shapes, indices and constants.
#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

#include "passes/opset/adapters.h"

namespace assay::passes {
namespace {

Refusal drop_allow_zero(Draft& draft) {
  if (draft.integer("allowzero", 0) != 0) {
    const std::optional<std::vector<int64_t>> target = draft.known_integers(1);
    if (!target || std::ranges::count(*target, 0) > 0) return "with `allowzero`, 0 in its target is a length";
  }
  draft.drop("allowzero");
  return {};
}

// A part of the shape is cut out by a Slice.
Refusal drop_shape_part(Draft& draft) {
  const int64_t start = draft.integer("start", 0);
  const int64_t end = draft.integer("end", std::numeric_limits<int64_t>::max());
  const bool is_part = start != 0 || draft.find("end");
  draft.drop("start");
  draft.drop("end");
  if (is_part) {
    draft.follow(0, {.op = "Slice", .operands = {draft.add_integers({start}), draft.add_integers({end})}});
  }
  return {};
}

tensor::Tensor floats_of(std::span<const float> values, bool is_list) {
  const tensor::Shape shape = is_list ? tensor::Shape{static_cast<int64_t>(values.size())} : tensor::Shape{};
  return tensor::make_tensor<float>(tensor::DType::float32, shape, values);
}

tensor::Tensor integers_of(std::span<const int64_t> values, bool is_list) {
  const tensor::Shape shape = is_list ? tensor::Shape{static_cast<int64_t>(values.size())} : tensor::Shape{};
  return tensor::make_tensor<int64_t>(tensor::DType::int64, shape, values);
}

// Numbers that the older version holds as a tensor.
std::optional<tensor::Tensor> written_numbers(const Draft& draft) {
  if (const ir::Attribute* value = draft.find("value_float")) return floats_of(value->floats(), false);
  if (const ir::Attribute* value = draft.find("value_floats")) return floats_of(value->floats(), true);
  if (const ir::Attribute* value = draft.find("value_int")) return integers_of(value->integers(), false);
  if (const ir::Attribute* value = draft.find("value_ints")) return integers_of(value->integers(), true);
  return std::nullopt;
}

Refusal to_tensor(Draft& draft) {
  if (draft.find("value") || draft.find("sparse_value")) return {};
  const std::optional<tensor::Tensor> numbers = written_numbers(draft);
  if (!numbers) return "it holds text, for which the older version has no attribute but a tensor";
  for (const std::string_view name : {"value_float", "value_floats", "value_int", "value_ints"}) draft.drop(name);
  draft.set_tensor("value", *numbers);
  return {};
}

Refusal refuse_reductions(Draft& draft, std::string_view allowed) {
  const std::string_view reduction = draft.string("reduction", "none");
  if (allowed.find(reduction) != std::string_view::npos) return {};
  return fmt::format("reduction `{}` came with the newer version", reduction);
}

Refusal refuse_extremes(Draft& draft) { return refuse_reductions(draft, "none add mul"); }

Refusal become_scatter_elements(Draft& draft) {
  draft.set_op("ScatterElements");
  return {};
}

// In version 9 negative indices select nothing, as those that are out of range do in both.
Refusal hide_negative(Draft& draft) {
  constexpr auto kInt64 = static_cast<int64_t>(tensor::DType::int64);
  const std::optional<std::vector<int64_t>> known = draft.known_integers(0);
  if (known && std::ranges::all_of(*known, [](int64_t index) { return index >= 0; })) return {};
  const ir::Attribute to = draft.attribute("to", kInt64);
  const DraftValue index = draft.add({.op = "Cast", .operands = {draft.operand(0)}, .attributes = {to}});
  const DraftValue zero = draft.add_constant(integers_of(std::array<int64_t, 1>{0}, false));
  const int64_t least = std::numeric_limits<int64_t>::min();
  const DraftValue nowhere = draft.add_constant(integers_of(std::array{least}, false));
  const DraftValue is_negative = draft.add({.op = "Less", .operands = {index, zero}});
  draft.set_operand(0, draft.add({.op = "Where", .operands = {is_negative, nowhere, index}}));
  return {};
}

}  // namespace

std::span<const Adapter> shape_adapters() {
  static constexpr Adapter kRows[] = {
      {"Reshape", 14, nullptr, drop_allow_zero, "0 copies a length by default"},
      {"Shape", 15, nullptr, drop_shape_part, "the whole shape by default"},
      {"Constant", 11, nullptr, nullptr, "a sparse tensor instead of `value`, which need not be there any more"},
      {"Constant", 12, nullptr, to_tensor, "more attributes for the same"},
      {"Scatter", 11, become_scatter_elements},
      {"ScatterElements", 16, nullptr, nullptr, "no reduction by default"},
      {"ScatterElements", 18, nullptr, refuse_extremes},
      {"ScatterND", 16, nullptr, nullptr, "no reduction by default"},
      {"ScatterND", 18, nullptr, refuse_extremes},
      {"GatherND", 12, nullptr, nullptr, "no batch dims by default"},
      {"OneHot", 11, hide_negative},
  };
  return kRows;
}

}  // namespace assay::passes
