// The loops of score_kernels.h; a body of instruction_sets_body.h. Rows are padded to whole vectors: what is behind
// their last score weighs nothing.

#include "engine/devices/cpu/vector_math_body.h"
#include "engine/devices/cpu/vector_numbers_body.h"
#include "engine/devices/cpu/vector_reductions_body.h"

constexpr size_t kRowsInTurn = 8;           // whose latencies hide behind each other
constexpr float kToWhole = 12582912.0F;     // 1.5 * 2^23: adding it rounds to whole numbers,
constexpr int32_t kWholeBits = 0x4B400000;  // that are the bits of the sum, less these

ASSAY_KERNEL inline void apply(const ScoreStep& step, const float* added, const uint8_t* conditions, Vector& x) {
  if (step.op == ScoreOp::add) {
    x += at(added).lanes;
  } else if (step.op == ScoreOp::choose) {
    Bits chosen;
    Vector number;
    set(number, step.number);
    read_bytes(conditions, chosen);
    step.hidden_where ? choose(chosen != 0, number, x, x) : choose(chosen != 0, x, number, x);
  } else if (step.op == ScoreOp::scale) {
    x *= step.factor;
  } else {
    Vector offset;
    set(offset, step.offset);
    bound(x * step.unit, step.least, step.greatest, x);
    x = (x + kToWhole) - kToWhole;
    fused(x, step.factor, offset, x);
  }
}

// Changes the scores of row `r`, with copies of what the last vector has not whole.
ASSAY_KERNEL inline void change(const ScoreStep& step, size_t r, float* scores, size_t count) {
  const int64_t first = static_cast<int64_t>(r) * step.row;
  const float* added = step.op == ScoreOp::add ? step.added + first : nullptr;
  const uint8_t* conditions = step.op == ScoreOp::choose ? step.conditions + first : nullptr;
  const size_t whole = count / kWidth * kWidth;
  for (size_t i = 0; i < whole; i += kWidth) {
    Vector x = at(scores + i).lanes;
    apply(step, added == nullptr ? nullptr : added + i, conditions == nullptr ? nullptr : conditions + i, x);
    at(scores + i).lanes = x;
  }
  if (whole == count) return;
  float last_added[kWidth] = {};
  uint8_t last_conditions[kWidth] = {};
  if (added != nullptr) std::copy_n(added + whole, count - whole, last_added);
  if (conditions != nullptr) std::copy_n(conditions + whole, count - whole, last_conditions);
  Vector x = at(scores + whole).lanes;
  apply(step, last_added, last_conditions, x);
  at(scores + whole).lanes = x;
}

// The greatest of whole vectors; where one is NaN, so will the sum be.
ASSAY_KERNEL inline void keep_greatest(const Vector& x, Vector& greatest) {
  choose(x > greatest, x, greatest, greatest);
}

ASSAY_KERNEL inline float greatest_of_lanes(const Vector& given) {
  const auto* const parts = reinterpret_cast<const Four*>(&given);
  Four kept = parts[0];
  for (size_t i = 1; i < kBytes / sizeof(Four); ++i) kept = parts[i] > kept ? parts[i] : kept;
  Four turned = __builtin_shufflevector(kept, kept, 2, 3, 0, 1);
  kept = turned > kept ? turned : kept;
  turned = __builtin_shufflevector(kept, kept, 1, 0, 3, 2);
  kept = turned > kept ? turned : kept;
  return kept[0];
}

ASSAY_KERNEL inline void read_sums(const ScoreRows& rows, const float* sums, int32_t more, Vector& x) {
  const Bits whole = reinterpret_cast<Bits>(at(sums).lanes) + more;
  x = __builtin_convertvector(whole, Vector) * rows.factor;
}

// Scores of row `r`, in place of its sums, before the steps from `done` on; gives the greatest of what is behind them.
ASSAY_KERNEL inline float change_rest(const ScoreRows& rows, size_t r, size_t done, float* scores) {
  constexpr float kLeast = -std::numeric_limits<float>::infinity();
  for (size_t s = done; s < rows.step_count; ++s) change(rows.steps[s], r, scores, rows.count);
  for (size_t i = rows.count; i % kWidth != 0; ++i) scores[i] = kLeast;
  Vector greatest;
  set(greatest, kLeast);
  for (size_t i = 0; i < rows.count; i += kWidth) {
    const Vector x = at(scores + i).lanes;
    keep_greatest(x, greatest);
  }
  return greatest_of_lanes(greatest);
}

// Scores of row `r` in place of its sums; gives the greatest. A mask of whole vectors is added at once.
ASSAY_KERNEL inline float make_scores(const ScoreRows& rows, size_t r, float* scores) {
  const int32_t more = rows.more == nullptr ? 0 : rows.more[r];
  const bool are_whole = rows.count % kWidth == 0;
  const bool adds = are_whole && rows.step_count > 0 && rows.steps[0].op == ScoreOp::add;
  const float* const added = adds ? rows.steps[0].added + static_cast<int64_t>(r) * rows.steps[0].row : nullptr;
  Vector greatest;
  set(greatest, -std::numeric_limits<float>::infinity());
#pragma GCC unroll 4
  for (size_t i = 0; i < rows.count; i += kWidth) {
    Vector x;
    read_sums(rows, scores + i, more, x);
    if (adds) x += at(added + i).lanes;
    at(scores + i).lanes = x;
    keep_greatest(x, greatest);
  }
  const size_t done = adds ? 1 : 0;
  return are_whole && done == rows.step_count ? greatest_of_lanes(greatest) : change_rest(rows, r, done, scores);
}

// exp(score - greatest) in place of the scores; gives their sum.
ASSAY_KERNEL inline float make_weights(float* scores, size_t count, float greatest) {
  Vector sums = {};
#pragma GCC unroll 2
  for (size_t i = 0; i < count; i += kWidth) {
    const Vector below = at(scores + i).lanes - greatest;
    Vector grown;
    falling_exponential(below, grown);
    at(scores + i).lanes = grown;
    sums += grown;
  }
  return sum_of_lanes(sums);
}

// Between two numbers; NaN becomes the least.
template <typename V>
ASSAY_KERNEL inline void keep_within(float least, float greatest, V& x) {
  V low, high;
  set(low, least);
  set(high, greatest);
  if constexpr (sizeof(V) == 64) {
    x = _mm512_maskz_min_ps(kAllLanes, high, _mm512_maskz_max_ps(kAllLanes, x, low));
  } else {
    choose(x > low, x, low, x);
    choose(x > high, high, x, x);
  }
}

// Codes of weights; gives the sum of those less their zero point.
ASSAY_KERNEL inline int32_t make_codes(const ScoreRows& rows, const float* weights, float unit, uint8_t* codes) {
  const auto least = static_cast<float>((rows.are_signed ? -128 : 0) - rows.zero);
  const size_t whole = rows.count / kWidth * kWidth;
  Bits sums = {};
  Bits last = {};
#pragma GCC unroll 4
  for (size_t i = 0; i < rows.count; i += kWidth) {
    Vector x = at(weights + i).lanes * unit;
    keep_within(least, least + 255, x);
    last = reinterpret_cast<Bits>(x + kToWhole) - kWholeBits;
    const Bits whole_codes = last + rows.zero;
    write_low_bytes(whole_codes, codes + i);
    if (i < whole) sums += last;
  }
  int32_t sum = 0;
  for (size_t lane = 0; lane < kWidth; ++lane) sum += sums[lane];
  for (size_t lane = 0; lane < rows.count - whole; ++lane) sum += last[lane];
  return sum;
}

ASSAY_KERNEL inline float unit_of(float sum, float quantum) {
  const double unit = 1 / (static_cast<double>(sum) * static_cast<double>(quantum));
  constexpr float kMost = std::numeric_limits<float>::max();
  return unit > static_cast<double>(kMost) ? kMost : static_cast<float>(unit);
}

ASSAY_KERNEL void weigh(const ScoreRows& rows) {
  auto* const scores = reinterpret_cast<float*>(rows.sums);
  float numbers[kRowsInTurn] = {};
  for (size_t first = 0; first < rows.rows; first += kRowsInTurn) {
    const size_t end = std::min(rows.rows, first + kRowsInTurn);
    const auto row = [&](size_t r) { return static_cast<int64_t>(r) * rows.sums_row; };
    for (size_t r = first; r < end; ++r) numbers[r - first] = make_scores(rows, r, scores + row(r));
    for (size_t r = first; r < end; ++r) {
      const float sum = make_weights(scores + row(r), rows.count, numbers[r - first]);
      numbers[r - first] = unit_of(sum, rows.quantum);
    }
    for (size_t r = first; r < end; ++r)
      rows.totals[r] = make_codes(rows, scores + row(r), numbers[r - first], rows.codes + row(r));
  }
}

ASSAY_KERNEL void shift(int32_t* sums, size_t count, int32_t more) {
  auto* const lanes = reinterpret_cast<float*>(sums);
  for (size_t i = 0; i < count; i += kWidth)
    at(lanes + i).lanes = reinterpret_cast<Vector>(reinterpret_cast<Bits>(at(lanes + i).lanes) + more);
}

constexpr ScoreKernels kKernels = {kName, weigh, shift};
