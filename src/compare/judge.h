#pragma once

#include <cstdint>
#include <string>

#include "results/comparison.h"
#include "tensor/tensor.h"

namespace assay::compare {

// The settings of `simple`.
enum class ErrorStatistic : uint8_t { elementwise, max, mean, median, quantile };

struct SimpleBounds {
  ErrorStatistic statistic = ErrorStatistic::elementwise;
  double atol = 1e-5;
  double rtol = 1e-5;
  double quantile = 0.99;
  double allowed_share = 0;  // elementwise: this share of the elements may be beyond both
};

// `metrics` must hold what the statistic needs and have counted its failures with these tolerances.
results::Judgement judge_simple(const results::PairMetrics& metrics, const SimpleBounds& bounds);
// Strings are equal or different, whatever the function: elementwise, the share may differ; otherwise none.
results::Judgement judge_strings(const results::PairMetrics& metrics, std::string_view function,
                                 const SimpleBounds& bounds);
results::Judgement judge_l2(const results::PairMetrics& metrics, double most);
results::Judgement judge_cosine(const results::PairMetrics& metrics, double least);
results::Judgement judge_psnr(const results::PairMetrics& metrics, double least_db);
results::Judgement judge_snr(const results::PairMetrics& metrics, double least_db);
// Lists along the last axis: every value of a (except the last `tolerance` of a list) must be in b at most `tolerance`
// places away. Shapes must be equal.
results::Judgement judge_indices(const tensor::Tensor& a, const tensor::Tensor& b, int64_t tolerance);

// The word of the option: `elemwise`, `max`, ...
std::string_view word(ErrorStatistic statistic);

}  // namespace assay::compare
