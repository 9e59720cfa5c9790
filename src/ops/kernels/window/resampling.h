#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::ops {

// The resizing of one axis.
struct ResampledAxis {
  int64_t in = 0;
  int64_t out = 0;
  double scale = 1;      // out / in as asked for, which need not give a whole `out`
  double roi_start = 0;  // of tf_crop_and_resize, as parts of the axis
  double roi_end = 1;
};

// The place on the original axis of place `x` of the resized one, by one of ONNX's coordinate_transformation_modes.
double original_place(std::string_view mode, const ResampledAxis& axis, int64_t x);
// Least and greatest of what evaluations in float32, of which implementations take one or another, give for it; of the
// modes half_pixel, asymmetric and align_corners and their kind.
std::pair<double, double> rounded_places(std::string_view mode, const ResampledAxis& axis, int64_t x);
bool is_coordinate_mode(std::string_view mode);
// The element that `nearest` takes, by one of ONNX's nearest_modes.
int64_t nearest_element(std::string_view mode, double place, const ResampledAxis& axis);

// Weights of consecutive elements from `first` on, some of which may lie beside the axis.
struct Taps {
  int64_t first = 0;
  std::vector<double> weights;
};
struct Filter {
  bool is_cubic = false;  // else linear
  double cubic_coefficient = -0.75;
  bool is_antialiased = false;  // wider where the axis gets shorter
  bool excludes_outside = false;
};
Taps taps_at(const Filter& filter, double place, const ResampledAxis& axis);

}  // namespace assay::ops
