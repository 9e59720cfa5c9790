// QuantizeLinear and DequantizeLinear.
#include "passes/opset/adapters.h"

namespace assay::passes {
namespace {

constexpr size_t kScale = 1;
constexpr size_t kZeroPoint = 2;

// Before version 13 there is one scale for all elements.
Refusal drop_axis(Draft& draft) {
  if (draft.rank(kScale) != 0) return "its scale is not known to be a scalar, which it must be in the older version";
  draft.drop("axis");
  return {};
}

// The type of the zero point is that of the output. What is left are the defaults.
Refusal drop_output_type(Draft& draft) {
  constexpr auto kDefault = static_cast<int64_t>(tensor::DType::uint8);
  const int64_t dtype = draft.integer("output_dtype", 0);
  const bool is_same = dtype == 0 || draft.has(kZeroPoint) || dtype == kDefault;
  if (!is_same) return "without a zero point its output has the type of `output_dtype`, and uint8 in the older version";
  draft.drop("output_dtype");
  return {};
}

Refusal drop_result_type(Draft& draft) {
  const int64_t dtype = draft.integer("output_dtype", 0);
  if (dtype != 0 && dtype != static_cast<int64_t>(draft.dtype(kScale))) {
    return "its output is not known to have the type of its scale, which it has in the older version";
  }
  draft.drop("output_dtype");
  return {};
}

}  // namespace

std::span<const Adapter> quantization_adapters() {
  static constexpr Adapter kRows[] = {
      {"QuantizeLinear", 13, nullptr, drop_axis, "a single scale has no axis"},
      {"QuantizeLinear", 19, nullptr, drop_saturate, "`saturate` is for 8-bit floats, which are new"},
      {"QuantizeLinear", 21, nullptr, drop_output_type, "no blocks, and the type of the zero point, by default"},
      {"QuantizeLinear", 23, nullptr, nullptr, "`precision`: by default that of the scale, as before"},
      {"DequantizeLinear", 13, nullptr, drop_axis, "a single scale has no axis"},
      {"DequantizeLinear", 21, nullptr, nullptr, "no blocks by default"},
      {"DequantizeLinear", 23, nullptr, drop_result_type, "by default the type of the scale, as before"},
  };
  return kRows;
}

}  // namespace assay::passes
