#include "ops/kernels/attention/scaled_scores.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/kernels/product/matrix_product.h"

namespace assay::ops {

void score_head(const AttentionHead& head, const double* q, const double* k, double scale, double* scores) {
  std::vector<double> turned(head.keys * head.size);
  for (uint64_t t = 0; t < head.keys; ++t) {
    for (uint64_t d = 0; d < head.size; ++d) turned[d * head.keys + t] = k[t * head.size + d];
  }
  matrix_product(
      {head.queries, head.keys, head.size},
      [&](uint64_t row, uint64_t begin, std::span<double> out) {
        std::copy_n(q + row * head.size + begin, out.size(), out.begin());
      },
      [&](uint64_t row, uint64_t begin, std::span<double> out) {
        std::copy_n(turned.data() + row * head.keys + begin, out.size(), out.begin());
      },
      [&](uint64_t row, uint64_t begin, std::span<const double> values) {
        double* to = scores + row * head.keys + begin;
        for (const double value : values) *to++ = value * scale;
      });
}

void mix_values(const AttentionHead& head, const double* weights, const double* v, double* out) {
  matrix_product(
      {head.queries, head.value_size, head.keys},
      [&](uint64_t row, uint64_t begin, std::span<double> to) {
        std::copy_n(weights + row * head.keys + begin, to.size(), to.begin());
      },
      [&](uint64_t row, uint64_t begin, std::span<double> to) {
        std::copy_n(v + row * head.value_size + begin, to.size(), to.begin());
      },
      [&](uint64_t row, uint64_t begin, std::span<const double> values) {
        std::ranges::copy(values, out + row * head.value_size + begin);
      });
}

void softmax_row(std::span<double> row, bool allows_none) {
  double top = -std::numeric_limits<double>::infinity();
  for (const double x : row) top = x > top || std::isnan(x) ? x : top;
  if (allows_none && top == -std::numeric_limits<double>::infinity()) return std::fill(row.begin(), row.end(), 0.0);
  double sum = 0;
  for (double& x : row) sum += x = std::exp(x - top);
  for (double& x : row) x /= sum;
}

}  // namespace assay::ops
