// The loops of softmax_columns.h; a body of instruction_sets_body.h.

#include "engine/devices/cpu/vector_math_body.h"

// Some columns beside each other: whole vectors, or the first lanes of one.
template <bool kIsWhole>
struct Columns {
  size_t lanes = kWidth;

  ASSAY_KERNEL void read(const float* x, Vector& out) const {
    if constexpr (kIsWhole) {
      out = at(x).lanes;
    } else {
      out = Vector{};
      for (size_t i = 0; i < lanes; ++i) out[i] = x[i];
    }
  }
  ASSAY_KERNEL void write(const Vector& x, float* out) const {
    if constexpr (kIsWhole)
      at(out).lanes = x;
    else
      for (size_t i = 0; i < lanes; ++i) out[i] = x[i];
  }
};

template <size_t kVectors, bool kIsWhole>
ASSAY_KERNEL inline void run_columns(const Columns<kIsWhole>& columns, const float* x, size_t length, size_t row,
                                     bool is_log, float* out) {
  Vector greatest[kVectors], sums[kVectors] = {}, number, grown;
  for (size_t v = 0; v < kVectors; ++v) columns.read(x + v * kWidth, greatest[v]);
  for (size_t r = 1; r < length; ++r) {
    for (size_t v = 0; v < kVectors; ++v) {
      columns.read(x + r * row + v * kWidth, number);
      choose((number > greatest[v]) | (number != number), number, greatest[v], greatest[v]);
    }
  }
  for (size_t r = 0; r < length; ++r) {
    for (size_t v = 0; v < kVectors; ++v) {
      columns.read(x + r * row + v * kWidth, number);
      const Vector below = number - greatest[v];
      falling_exponential(below, grown);
      sums[v] += grown;
      columns.write(is_log ? below : grown, out + r * row + v * kWidth);
    }
  }
  for (size_t v = 0; v < kVectors; ++v) {
    for (size_t lane = 0; lane < kWidth; ++lane) sums[v][lane] = is_log ? std::log(sums[v][lane]) : 1 / sums[v][lane];
  }
  for (size_t r = 0; r < length; ++r) {
    for (size_t v = 0; v < kVectors; ++v) {
      float* const place = out + r * row + v * kWidth;
      columns.read(place, number);
      columns.write(is_log ? number - sums[v] : number * sums[v], place);
    }
  }
}

// Columns that lie side by side without gaps, of which a vector holds some rows: those of a column are put together at
// the end.
ASSAY_KERNEL inline void run_narrow(const float* x, size_t length, size_t count, bool is_log, float* out) {
  const size_t all = length * count, whole = all / kWidth * kWidth;
  const Columns<false> rest{all - whole};
  Vector greatest, sums = {}, number, grown;
  set(greatest, -__builtin_inff());
  const auto combine = [&](Vector& of, auto&& fn) ASSAY_KERNEL {
    for (size_t lane = count; lane < kWidth; ++lane) of[lane % count] = fn(of[lane % count], of[lane]);
    for (size_t lane = count; lane < kWidth; ++lane) of[lane] = of[lane % count];
  };
  const auto larger = [](float a, float b) { return a > b || a != a ? a : b; };
  for (size_t i = 0; i < whole; i += kWidth) {
    number = at(x + i).lanes;
    choose((number > greatest) | (number != number), number, greatest, greatest);
  }
  for (size_t lane = 0; lane < rest.lanes; ++lane) greatest[lane] = larger(x[whole + lane], greatest[lane]);
  combine(greatest, larger);
  const auto grow = [&](const auto& columns, size_t i, size_t lanes) ASSAY_KERNEL {
    columns.read(x + i, number);
    const Vector below = number - greatest;
    falling_exponential(below, grown);
    for (size_t lane = lanes; lane < kWidth; ++lane) grown[lane] = 0;
    sums += grown;
    columns.write(is_log ? below : grown, out + i);
  };
  for (size_t i = 0; i < whole; i += kWidth) grow(Columns<true>{}, i, kWidth);
  if (whole < all) grow(rest, whole, rest.lanes);
  combine(sums, [](float a, float b) { return a + b; });
  for (size_t lane = 0; lane < kWidth; ++lane) sums[lane] = is_log ? std::log(sums[lane]) : 1 / sums[lane];
  const auto give = [&](const auto& columns, size_t i) ASSAY_KERNEL {
    columns.read(out + i, number);
    columns.write(is_log ? number - sums : number * sums, out + i);
  };
  for (size_t i = 0; i < whole; i += kWidth) give(Columns<true>{}, i);
  if (whole < all) give(rest, whole);
}

ASSAY_KERNEL void run(const float* x, size_t length, size_t row, size_t count, bool is_log, float* out) {
  if (count == row && count < kWidth && kWidth % count == 0 && length * count >= kWidth)
    return run_narrow(x, length, count, is_log, out);
  constexpr size_t kTogether = 2;
  size_t i = 0;
  for (; i + kTogether * kWidth <= count; i += kTogether * kWidth)
    run_columns<kTogether>(Columns<true>{}, x + i, length, row, is_log, out + i);
  for (; i + kWidth <= count; i += kWidth) run_columns<1>(Columns<true>{}, x + i, length, row, is_log, out + i);
  if (i < count) run_columns<1>(Columns<false>{count - i}, x + i, length, row, is_log, out + i);
}

constexpr SoftmaxColumns kKernels = {kName, run};
