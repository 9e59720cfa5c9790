#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "ops/eval.h"
#include "ops/infer.h"
#include "ops/kernels/window/resampling.h"

namespace assay::ops {

// The attributes of Resize and Upsample, in all their versions. Error for words that are not known.
enum class ResizeMode : uint8_t { nearest, linear, cubic };
bool is_upsample(const Node& node);
ResizeMode resize_mode(const Node& node);
std::string_view resize_coordinate_mode(const Node& node);
std::string_view resize_nearest_mode(const Node& node, double scale);
std::string_view resize_aspect_policy(const Node& node);
std::vector<int64_t> resized_axes(const Node& node, int64_t rank);
std::vector<double> written_scales(const Node& node);  // of Upsample before version 9

// The numbers of the inputs, by version.
struct ResizeInputs {
  static constexpr uint32_t kNone = UINT32_MAX;
  uint32_t roi = kNone, scales = kNone, sizes = kNone;
};
ResizeInputs resize_inputs(const Node& node);

// The one scale that all axes share to keep the aspect ratio.
double common_scale(std::string_view policy, std::span<const int64_t> sizes, std::span<const int64_t> lengths);

}  // namespace assay::ops
