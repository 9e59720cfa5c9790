#pragma once

#include "ops/kernels/ml/ml_scores.h"

namespace assay::ops {

enum class SvmKernel : uint8_t { linear, poly, rbf, sigmoid };

// The comparison of two rows of features.
struct SvmProduct {
  SvmKernel kind = SvmKernel::linear;
  double gamma = 0;
  double offset = 0;
  double degree = 0;

  double operator()(std::span<const double> a, std::span<const double> b) const;
};

// By the attributes `kernel_type` and `kernel_params`. Error where the kernel is not known.
SvmProduct svm_product(const Node& node);

// Probabilities of `classes` classes from those of each pair: pairs[i * classes + j] of i against j. By the method of
// Wu, Lin and Weng that libsvm uses.
std::vector<double> couple_probabilities(const std::vector<double>& pairs, size_t classes);

}  // namespace assay::ops
