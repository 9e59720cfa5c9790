#pragma once

#include <string>
#include <string_view>

#include "picture/heat_map_image.h"
#include "results/tensor_stats.h"

namespace assay::report {

// Both sides overlaid on a common axis; empty if neither has a histogram.
std::string histogram_figure(const results::TensorStats& a, const results::TensorStats& b);
std::string histogram_figure(const results::TensorStats& differences, std::string_view caption);

std::string histogram_figure(const results::Histogram& histogram, std::string_view caption);

// A map as an embedded picture with its scale; empty without cells.
std::string heat_figure(const results::HeatMap& map, picture::HeatScale scale, std::string_view caption);

}  // namespace assay::report
