// Upsample, which Resize took over, and Resize, GridSample and RoiAlign.
#include <algorithm>

#include <fmt/format.h>

#include "passes/opset/adapters.h"
#include "tensor/elements.h"

namespace assay::passes {
namespace {

constexpr size_t kOldScales = 1;  // of Upsample and of version 10
constexpr size_t kRoi = 1;
constexpr size_t kScales = 2;
constexpr size_t kSizes = 3;

DraftValue add_floats(Draft& draft, const std::vector<double>& values) {
  const tensor::Shape shape = {static_cast<int64_t>(values.size())};
  return draft.add_constant(ops::make_rounded(tensor::DType::float32, shape, values));
}

Refusal scales_to_input(Draft& draft) {
  const std::vector<float> scales = draft.floats("scales");
  draft.set_operand(kOldScales, add_floats(draft, {scales.begin(), scales.end()}));
  draft.drop("scales");
  return {};
}

Refusal become_resize(Draft& draft) {
  draft.set_op("Resize");
  return {};
}

// Version 10 rounds down, but up where an axis gets shorter. Nothing: both may happen. Upsample never shortens.
std::optional<std::string_view> old_rounding(const Draft& draft) {
  if (draft.model().text(draft.model()[draft.node()].op) == "Upsample") return "floor";
  const tensor::Tensor* scales = draft.constant(kOldScales);
  if (!scales) return std::nullopt;
  const std::vector<double> values = tensor::load_elements<double>(*scales);
  if (std::ranges::all_of(values, [](double scale) { return scale >= 1; })) return "floor";
  if (std::ranges::all_of(values, [](double scale) { return scale <= 1; })) return "ceil";
  return std::nullopt;
}

Refusal raise_old_resize(Draft& draft) {
  const bool is_nearest = draft.string("mode", "nearest") == "nearest";
  const std::optional<std::string_view> rounding = old_rounding(draft);
  if (is_nearest && !rounding) return "its scales are not known, or some of them enlarge and some reduce";
  draft.set("coordinate_transformation_mode", "asymmetric");
  if (is_nearest) draft.set("nearest_mode", *rounding);
  const DraftValue scales = draft.operand(kOldScales);
  draft.set_operand(kRoi, add_floats(draft, {}));
  draft.set_operand(kScales, scales);
  return {};
}

bool is_empty(const Draft& draft, size_t index) {
  const tensor::Tensor* constant = draft.constant(index);
  return constant && constant->count() == 0;
}

// Leaves out operands that were empty tensors because they are not meant.
Refusal leave_out_empty(Draft& draft) {
  if (draft.has(kSizes) && is_empty(draft, kScales)) draft.drop_operand(kScales);
  if (is_empty(draft, kRoi)) draft.drop_operand(kRoi);
  return {};
}

Refusal fill_in_empty(Draft& draft) {
  if (!draft.has(kRoi)) draft.set_operand(kRoi, add_floats(draft, {}));
  if (!draft.has(kScales)) draft.set_operand(kScales, add_floats(draft, {}));
  return {};
}

// The scales of all axes, of which the node lists some.
Refusal drop_resize_axes(Draft& draft) {
  if (!draft.find("axes")) return {};
  const std::optional<int64_t> rank = draft.rank(0);
  const std::vector<int64_t> axes = draft.integers("axes");
  const tensor::Tensor* known = draft.constant(kScales);
  if (!rank || !known || draft.has(kRoi)) return "it lists axes, and its rank or scales are not known";
  const std::vector<double> scales = tensor::load_elements<double>(*known);
  if (scales.size() != axes.size()) return "its scales do not fit to its axes";
  std::vector<double> all(static_cast<size_t>(*rank), 1);
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t axis = axes[i] < 0 ? axes[i] + *rank : axes[i];
    if (axis < 0 || axis >= *rank) return fmt::format("there is no axis {}", axes[i]);
    all[static_cast<size_t>(axis)] = scales[i];
  }
  draft.set_operand(kScales, add_floats(draft, all));
  draft.drop("axes");
  return {};
}

Refusal refuse_symmetric(Draft& draft) {
  const bool is_new = draft.string("coordinate_transformation_mode", "half_pixel") == "half_pixel_symmetric";
  return is_new ? "coordinate_transformation_mode `half_pixel_symmetric` came with version 19" : "";
}

Refusal rename_modes(Draft& draft) {
  const std::string_view mode = draft.string("mode", "bilinear");
  if (mode == "bilinear") draft.set("mode", "linear");
  if (mode == "bicubic") draft.set("mode", "cubic");
  return {};
}

Refusal rename_modes_back(Draft& draft) {
  if (draft.rank(0) != 4) return "its input is not known to be a batch of images, and the older version takes no other";
  const std::string_view mode = draft.string("mode", "linear");
  if (mode == "linear") draft.set("mode", "bilinear");
  if (mode == "cubic") draft.set("mode", "bicubic");
  return {};
}

Refusal name_coordinates(Draft& draft) {
  draft.set("coordinate_transformation_mode", "output_half_pixel");
  return {};
}

Refusal unname_coordinates(Draft& draft) {
  if (draft.string("coordinate_transformation_mode", "half_pixel") != "output_half_pixel") {
    return "coordinate_transformation_mode `half_pixel` came with version 16";
  }
  draft.drop("coordinate_transformation_mode");
  return {};
}

}  // namespace

std::span<const Adapter> image_adapters() {
  static constexpr Adapter kRows[] = {
      {"Upsample", 9, scales_to_input},
      {"Upsample", 10, become_resize},
      {"Resize", 11, raise_old_resize},
      {"Resize", 13, leave_out_empty, fill_in_empty},
      {"Resize", 18, nullptr, drop_resize_axes},
      {"Resize", 19, nullptr, refuse_symmetric},
      {"GridSample", 20, rename_modes, rename_modes_back},
      {"RoiAlign", 16, name_coordinates, unname_coordinates},
  };
  return kRows;
}

}  // namespace assay::passes
