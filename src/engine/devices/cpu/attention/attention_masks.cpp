#include "engine/devices/cpu/attention/attention_masks.h"

#include <algorithm>
#include <cmath>

namespace assay::engine::cpu {

using Range = AttentionRange;

AttentionMasks::Rows AttentionMasks::read(const AttentionChunk& chunk, Range rows, Range keys) const {
  const AttentionGeometry& g = operands_.g;
  const bool has_conditions = g.conditions.exist();
  if (!g.mask.exist() && !has_conditions) return {};
  const int64_t bytes = float_bytes(g.dtype);
  const auto count = static_cast<size_t>(keys.size());
  const auto numbers = [&](int64_t row) { return operands_.place(g.mask, chunk, row, bytes) + keys.begin * bytes; };
  if (!has_conditions && g.dtype == tensor::DType::float32)
    return {reinterpret_cast<const float*>(numbers(rows.begin)), g.mask.row};
  float* const tile = chunk.scratch.mask;
  const bool is_shared = (!g.mask.exist() || g.mask.row == 0) && (!has_conditions || g.conditions.row == 0);
  for (int64_t r = 0; r < (is_shared ? 1 : rows.size()); ++r) {
    float* const to = tile + r * AttentionScratch::kKeys;
    if (g.mask.exist())
      load_floats(g.dtype, numbers(rows.begin + r), to, count);
    else
      std::fill_n(to, count, 0.0F);
    if (has_conditions) add_conditions(chunk, rows.begin + r, keys, to);
  }
  return {tile, is_shared ? 0 : AttentionScratch::kKeys};
}

namespace {

constexpr float kZeroBelow = -106;  // exponentials are 0 from -104 on
// Sums of numbers beyond it may be off by more than what lies between the two.
constexpr float kExact = 1 << 20;

}  // namespace

int64_t AttentionMasks::count_shown(const AttentionChunk& chunk, Range rows, Range keys, const Hiding& hiding) {
  if (hiding.masks.first == nullptr) return keys.size();
  const auto count = static_cast<size_t>(keys.size());
  // At least so great is the greatest score of a row.
  const auto greatest = [&](int64_t row, float reach) {
    if (keys.begin == 0) return hiding.masks.of(row)[0] - reach;
    return chunk.scratch.states[rows.begin + row - chunk.rows.begin].greatest;
  };
  const int64_t last = rows.size() - 1;
  const bool may_hide = hiding.masks.of(last)[count - 1] <= greatest(last, 0) + kZeroBelow;
  if (!may_hide) return keys.size();
  const float reach = hiding.reach();
  size_t shown = 0;
  for (int64_t row = last; row >= 0 && shown < count; --row) {
    const float bound = greatest(row, reach) - reach + kZeroBelow;
    if (!(std::fabs(bound) + reach < kExact)) return keys.size();
    shown += row_kernels().count_above(hiding.masks.of(row) + shown, count - shown, bound);
  }
  return static_cast<int64_t>(shown);
}

void AttentionMasks::add_conditions(const AttentionChunk& chunk, int64_t row, Range keys, float* mask) const {
  const AttentionGeometry& g = operands_.g;
  const uint8_t* const conditions = operands_.at<uint8_t>(g.conditions, chunk, row) + keys.begin;
  for (int64_t i = 0; i < keys.size(); ++i) {
    const bool is_hidden = (conditions[i] != 0) == g.hidden_where;
    if (is_hidden) mask[i] += g.hidden;
  }
}

void AttentionMasks::replace(const AttentionChunk& chunk, int64_t row, Range keys, float* scores) const {
  const AttentionGeometry& g = operands_.g;
  if (!g.conditions.exist() || !g.replaces) return;
  const uint8_t* const conditions = operands_.at<uint8_t>(g.conditions, chunk, row) + keys.begin;
  for (int64_t i = 0; i < keys.size(); ++i) {
    const bool is_hidden = (conditions[i] != 0) == g.hidden_where;
    if (is_hidden) scores[i] = 0;
  }
}

}  // namespace assay::engine::cpu
