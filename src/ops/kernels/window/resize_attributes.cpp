#include "ops/kernels/window/resize_attributes.h"

#include <algorithm>

namespace assay::ops {

bool is_upsample(const Node& node) { return node.op() == "Upsample"; }

ResizeMode resize_mode(const Node& node) {
  const std::string_view word = node.string("mode");
  if (word == "nearest") return ResizeMode::nearest;
  const bool is_old = is_upsample(node) && node.version() < 7;
  if (word == (is_old ? "bilinear" : "linear")) return ResizeMode::linear;
  const bool has_cubic = !is_upsample(node) && node.version() >= 11;
  if (word == "cubic" && has_cubic) return ResizeMode::cubic;
  fail(ErrorCode::shape, "attribute `mode` is `{}`, expected nearest, {}{}", word, is_old ? "bilinear" : "linear",
       has_cubic ? " or cubic" : "");
}

std::string_view resize_coordinate_mode(const Node& node) {
  if (is_upsample(node) || node.version() < 11) return "asymmetric";
  const std::string_view word = node.string("coordinate_transformation_mode");
  if (!is_coordinate_mode(word)) fail(ErrorCode::shape, "attribute `coordinate_transformation_mode` is `{}`", word);
  return word;
}

// Until version 10 elements are cut off, but counted up where an axis gets shorter.
std::string_view resize_nearest_mode(const Node& node, double scale) {
  if (is_upsample(node) || node.version() < 11) return scale < 1 ? "ceil" : "floor";
  const std::string_view word = node.string("nearest_mode");
  if (word != "round_prefer_floor" && word != "round_prefer_ceil" && word != "floor" && word != "ceil") {
    fail(ErrorCode::shape, "attribute `nearest_mode` is `{}`", word);
  }
  return word;
}

std::string_view resize_aspect_policy(const Node& node) {
  const std::string_view word = node.string("keep_aspect_ratio_policy", "stretch");
  if (word != "stretch" && word != "not_larger" && word != "not_smaller") {
    fail(ErrorCode::shape, "attribute `keep_aspect_ratio_policy` is `{}`", word);
  }
  return word;
}

ResizeInputs resize_inputs(const Node& node) {
  constexpr uint32_t kNone = ResizeInputs::kNone;
  if (is_upsample(node)) return {kNone, node.version() < 9 ? kNone : 1U, kNone};
  if (node.version() < 11) return {kNone, 1, kNone};
  return {1, 2, 3};
}

std::vector<int64_t> resized_axes(const Node& node, int64_t rank) {
  if (node.has_attribute("axes")) return normalize_axes(node.integers("axes"), rank);
  std::vector<int64_t> axes(static_cast<size_t>(rank));
  for (int64_t i = 0; i < rank; ++i) axes[static_cast<size_t>(i)] = i;
  return axes;
}

std::vector<double> written_scales(const Node& node) {
  if (node.version() >= 7) return node.floats("scales");
  return {1, 1, node.floating("height_scale"), node.floating("width_scale")};
}

double common_scale(std::string_view policy, std::span<const int64_t> sizes, std::span<const int64_t> lengths) {
  double scale = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const double own = static_cast<double>(sizes[i]) / static_cast<double>(lengths[i]);
    const bool is_better = policy == "not_larger" ? own < scale : own > scale;
    scale = i == 0 || is_better ? own : scale;
  }
  return scale;
}

}  // namespace assay::ops
