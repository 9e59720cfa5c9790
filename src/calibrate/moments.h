#pragma once

#include <map>
#include <string>
#include <vector>

#include "exec/drive.h"

namespace assay::calibrate {

// Second moments of the last dim of a value, over all inputs of a model.
struct Moments {
  uint64_t rows = 0;             // that were seen
  uint64_t size = 0;             // of the last dim
  std::vector<double> products;  // size x size: sums of the products of any two elements of a row, those of two
                                 // different ones shrunk, since in few rows they go together by chance
  std::vector<double> sums;      // of each element
};

// Means of each element of a row.
struct ElementMeans {
  std::vector<double> means;
  std::vector<double> squares;
};

// Means without what they differ by because rows are few (the estimator of James and Stein): numbers are drawn towards
// 0 and squares towards each other, by the share of their spread that chance alone gives. Precondition: some rows.
ElementMeans element_means(const Moments& moments);

// Runs a model over all inputs of `source` and looks at the float32 values of these names, inputs among them. Throws
// the Error of the backend if it fails.
std::map<std::string, Moments> measure_moments(const exec::RunnerPtr& runner, exec::DataSource& source,
                                               const exec::TapPlan& taps, const std::vector<std::string>& names,
                                               Diagnostics& findings);

}  // namespace assay::calibrate
