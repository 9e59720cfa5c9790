#pragma once

#include <array>
#include <string_view>

namespace assay::formats {

// The name of a function with a single metric in the peer's JSON.
struct MetricClass {
  std::string_view function;
  std::string_view field;
  std::string_view result;
  std::string_view threshold;
};

inline constexpr std::array kMetricClasses = {
    MetricClass{"l2", "l2_norm", "L2Result", "L2Threshold"},
    MetricClass{"cosine_similarity", "cosine_similarity", "CosineSimilarityResult", "CosineSimilarityThreshold"},
    MetricClass{"psnr", "psnr", "PsnrResult", "PsnrThreshold"},
    MetricClass{"snr", "snr", "SnrResult", "SnrThreshold"},
};

inline constexpr std::array<std::string_view, 4> kSimpleStatistics = {"max", "mean", "median", "quantile"};

}  // namespace assay::formats
