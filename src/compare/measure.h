#pragma once

#include <optional>

#include "results/comparison.h"
#include "tensor/tensor.h"

namespace assay::compare {

struct MeasureOptions {
  double atol = 1e-5;  // an element fails if it is beyond both
  double rtol = 1e-5;
  bool infinities_equal = false;   // equal infinities differ by 0, otherwise by NaN
  bool percentiles = false;        // of both sides and both differences
  std::optional<double> quantile;  // of both differences
  bool histograms = false;         // of both sides over their common range, of the differences over their own
  bool divergence = false;
  bool b_is_signal = false;  // of SNR and PSNR, in the place of a
};

// Compares two arrays of the same shape (a precondition), of any types; Error (unsupported) for strings against
// numbers. Streams over both in one pass; selections and histograms take further passes. The result does not depend on
// the number of threads.
results::PairMetrics measure(const tensor::Tensor& a, const tensor::Tensor& b, const MeasureOptions& options);

// Adds histograms to the result of a measure() without them.
void add_histograms(const tensor::Tensor& a, const tensor::Tensor& b, const MeasureOptions& options,
                    results::PairMetrics& metrics);

}  // namespace assay::compare
