#pragma once

#include <cstdint>
#include <vector>

#include "calibrate/range.h"
#include "tensor/tensor.h"

namespace assay::calibrate {

// Counts of magnitudes, in bins from 0 on whose width is a power of two. Numbers come in any order and size: if they
// leave the bins, neighbours are merged until they fit, so that at least half of the bins are in use, and what is
// counted depends on the numbers alone, whatever their order and in however many histograms they were.
class Histogram {
 public:
  static constexpr size_t kBins = 4096;

  Histogram() = default;
  // A histogram again: width 0 and the number of zeros, or a width and up to kBins counts. Error (parse) for what no
  // histogram has.
  Histogram(double width, std::vector<uint64_t> counts);

  // Packed float32, all of them finite, none greater than `largest`; zeros count in the first bin. What is counted does
  // not depend on the number of threads.
  void add(tensor::Bytes floats, float largest);
  void add(const Histogram& other);

  const std::vector<uint64_t>& counts() const { return counts_; }  // empty: no number but 0 was seen
  uint64_t zeros() const { return zeros_; }                        // seen as long as there are no counts
  double width() const { return width_; }
  size_t used_bins() const;  // up to the last one that is not empty

 private:
  void grow(double largest);

  std::vector<uint64_t> counts_;
  uint64_t zeros_ = 0;  // that were seen before there were bins
  double width_ = 0;
};

// Thresholds at which magnitudes are cut off. Each gives the upper edge of a bin; 0 for an empty histogram.
// By the divergence between the numbers and what 128 levels make of them; of equals the last.
double entropy_threshold(const Histogram& histogram);
// Below which this share of the numbers is.
double percentile_threshold(const Histogram& histogram, double quantile);
// By the expected square of the error of 127 levels.
double square_threshold(const Histogram& histogram);

}  // namespace assay::calibrate
