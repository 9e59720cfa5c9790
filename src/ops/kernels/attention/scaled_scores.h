#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace assay::ops {

// Attention of one head, matrices row-major in double: q [queries, size], k [keys, size], v [keys, value_size].
struct AttentionHead {
  uint64_t queries = 0;
  uint64_t keys = 0;
  uint64_t size = 0;
  uint64_t value_size = 0;
};

// scores [queries, keys] = q · transposed k, times `scale`.
void score_head(const AttentionHead& head, const double* q, const double* k, double scale, double* scores);
// out [queries, value_size] = weights · v.
void mix_values(const AttentionHead& head, const double* weights, const double* v, double* out);
// Softmax of one row. A row of minus infinity alone becomes zeros if `allows_none`, NaN otherwise.
void softmax_row(std::span<double> row, bool allows_none);

}  // namespace assay::ops
