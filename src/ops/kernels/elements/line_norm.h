#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.h"
#include "ops/kernels/elements/moments.h"

namespace assay::ops {

// Lines of a tensor made to have mean 0 and variance 1, or only a mean square of 1, then scaled and shifted.
struct LineNorm {
  uint64_t width = 1;
  double epsilon = 0;
  bool centers = true;
  std::vector<double> gamma, beta;      // empty: none
  std::vector<double> means, inverses;  // of each line

  void apply(std::vector<double>& data) {
    const uint64_t lines = width == 0 ? 0 : data.size() / width;
    means.resize(lines);
    inverses.resize(lines);
    parallel_for(lines, 4, [&](uint64_t begin, uint64_t end) {
      for (uint64_t l = begin; l < end; ++l) apply_line(l, std::span(data).subspan(l * width, width));
    });
  }

 private:
  void apply_line(uint64_t l, std::span<double> line) {
    Moments moments;
    if (centers) {
      moments = moments_of(width, [&](uint64_t i) { return line[i]; });
    } else {
      for (const double x : line) moments.variance += x * x;
      moments.variance /= static_cast<double>(width);
    }
    const double deviation = std::sqrt(moments.variance + epsilon);
    means[l] = moments.mean;
    inverses[l] = 1 / deviation;
    for (uint64_t i = 0; i < width; ++i) {
      line[i] = (line[i] - moments.mean) / deviation;
      if (!gamma.empty()) line[i] *= gamma[i];
      if (!beta.empty()) line[i] += beta[i];
    }
  }
};

}  // namespace assay::ops
