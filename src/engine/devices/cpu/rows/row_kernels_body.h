// The loops of row_kernels.h for vectors of kBytes; included by row_kernels.cpp once for each instruction set, in a
// namespace of its own, with ASSAY_KERNEL saying which.
#include "engine/devices/cpu/vector_math_body.h"
#include "engine/devices/cpu/vector_reductions_body.h"

ASSAY_KERNEL void maximum(float* kept, const float* x, size_t count) {
  size_t i = 0;
  for (; i + kWidth <= count; i += kWidth) {
    const Vector a = at(kept + i).lanes;
    const Vector b = at(x + i).lanes;
    Vector out;
    choose((b > a) | (b != b), b, a, out);
    at(kept + i).lanes = out;
  }
  for (; i < count; ++i) kept[i] = x[i] > kept[i] || x[i] != x[i] ? x[i] : kept[i];
}

// Calls fn with the places of vectors of so many elements, of which the last may have some of the one before once more;
// returns the number of elements that have a place: none of fewer than a vector.
template <size_t kElements, typename Fn>
ASSAY_KERNEL inline size_t for_vectors(size_t count, const Fn& fn) {
  if (count < kElements) return 0;
  for (size_t i = 0; i + kElements <= count; i += kElements) fn(i);
  if (count % kElements != 0) fn(count - kElements);
  return count;
}

struct Maxima {
  const float* const* x;
  size_t rows;
  float* out;
  ASSAY_KERNEL void operator()(size_t i) const {
    Vector kept = at(x[0] + i).lanes;
    for (size_t r = 1; r < rows; ++r) {
      const Vector b = at(x[r] + i).lanes;
      choose((b > kept) | (b != b), b, kept, kept);
    }
    at(out + i).lanes = kept;
  }
};

ASSAY_KERNEL void maxima(const float* const* x, size_t rows, float* out, size_t count) {
  for (size_t i = for_vectors<kWidth>(count, Maxima{x, rows, out}); i < count; ++i) {
    float kept = x[0][i];
    for (size_t r = 1; r < rows; ++r) kept = x[r][i] > kept || x[r][i] != x[r][i] ? x[r][i] : kept;
    out[i] = kept;
  }
}

// Bytes at any address, as Place.
struct [[gnu::may_alias]] SignedCodes {
  using Lanes [[gnu::vector_size(kBytes), gnu::aligned(1), gnu::may_alias]] = int8_t;
  Lanes lanes;
};
struct [[gnu::may_alias]] PlainCodes {
  using Lanes [[gnu::vector_size(kBytes), gnu::aligned(1), gnu::may_alias]] = uint8_t;
  Lanes lanes;
};
struct [[gnu::may_alias]] FewSignedCodes {
  using Lanes [[gnu::vector_size(16), gnu::aligned(1), gnu::may_alias]] = int8_t;
  Lanes lanes;
};
struct [[gnu::may_alias]] FewPlainCodes {
  using Lanes [[gnu::vector_size(16), gnu::aligned(1), gnu::may_alias]] = uint8_t;
  Lanes lanes;
};

template <typename Bytes, typename T>
struct MaximaOfBytes {
  const T* const* x;
  size_t rows;
  T* out;
  ASSAY_KERNEL void operator()(size_t i) const {
    auto kept = reinterpret_cast<const Bytes*>(x[0] + i)->lanes;
    for (size_t r = 1; r < rows; ++r) {
      const auto b = reinterpret_cast<const Bytes*>(x[r] + i)->lanes;
      const auto is_greater = reinterpret_cast<decltype(kept)>(b > kept);
      kept = (b & is_greater) | (kept & ~is_greater);
    }
    reinterpret_cast<Bytes*>(out + i)->lanes = kept;
  }
};

template <typename Bytes, typename FewBytes, typename T>
ASSAY_KERNEL inline void maxima_of_bytes(const T* const* x, size_t rows, T* out, size_t count) {
  size_t i = for_vectors<sizeof(Bytes)>(count, MaximaOfBytes<Bytes, T>{x, rows, out});
  if (i == 0) i = for_vectors<sizeof(FewBytes)>(count, MaximaOfBytes<FewBytes, T>{x, rows, out});
  for (; i < count; ++i) {
    out[i] = x[0][i];
    for (size_t r = 1; r < rows; ++r) out[i] = std::max(out[i], x[r][i]);
  }
}

ASSAY_KERNEL void maxima_signed(const int8_t* const* x, size_t rows, int8_t* out, size_t count) {
  maxima_of_bytes<SignedCodes, FewSignedCodes>(x, rows, out, count);
}

ASSAY_KERNEL void maxima_unsigned(const uint8_t* const* x, size_t rows, uint8_t* out, size_t count) {
  maxima_of_bytes<PlainCodes, FewPlainCodes>(x, rows, out, count);
}

ASSAY_KERNEL void keep_places(const float* x, float sign, int32_t place, bool takes_last, float* kept, int32_t* places,
                              size_t count) {
  const auto wins_over = [&](float given, float best) {
    const bool is_nan = given != given;
    return given > best || (is_nan && best == best) || (takes_last && (given == best || (is_nan && best != best)));
  };
  const Bits last = takes_last ? ~Bits{} : Bits{};
  size_t i = 0;
  for (; i + kWidth <= count; i += kWidth) {
    const Vector given = at(x + i).lanes * sign;
    const Vector best = at(kept + i).lanes;
    const Bits is_nan = given != given;
    const Bits is_better = (given > best) | (is_nan & (best == best));
    const Bits wins = is_better | (last & ((given == best) | (is_nan & (best != best))));
    Vector chosen;
    choose(wins, given, best, chosen);
    at(kept + i).lanes = chosen;
    auto* const numbers = reinterpret_cast<float*>(places + i);  // of which only the bits count
    const Vector kept_places = at(numbers).lanes;
    choose(wins, reinterpret_cast<Vector>(Bits{} + place), kept_places, chosen);
    at(numbers).lanes = chosen;
  }
  for (; i < count; ++i) {
    const float given = x[i] * sign;
    if (!wins_over(given, kept[i])) continue;
    kept[i] = given;
    places[i] = place;
  }
}

ASSAY_KERNEL void range(const float* x, size_t count, float& least, float& greatest) {
  size_t i = 0;
  if (count >= kWidth) {
    Vector low, high;
    set(low, least);
    set(high, greatest);
    for (; i + kWidth <= count; i += kWidth) {
      const Vector b = at(x + i).lanes;
      choose(b < low, b, low, low);
      choose(b > high, b, high, high);
    }
    for (size_t lane = 0; lane < kWidth; ++lane) {
      least = low[lane] < least ? low[lane] : least;
      greatest = high[lane] > greatest ? high[lane] : greatest;
    }
  }
  for (; i < count; ++i) {
    least = x[i] < least ? x[i] : least;
    greatest = x[i] > greatest ? x[i] : greatest;
  }
}

ASSAY_KERNEL void greatest_size(const float* x, int64_t row, size_t rows, size_t count, float& kept) {
  Bits greatest = {};  // whose order is that of numbers without a sign
  auto found = std::bit_cast<int32_t>(kept);
  for (size_t r = 0; r < rows; ++r, x += row) {
    size_t i = 0;
    for (; i + kWidth <= count; i += kWidth) {
      const Bits size = reinterpret_cast<Bits>(at(x + i).lanes) & 0x7FFFFFFF;
      greatest = size > greatest ? size : greatest;
    }
    for (; i < count; ++i) found = std::max(found, std::bit_cast<int32_t>(x[i]) & 0x7FFFFFFF);
  }
  for (size_t lane = 0; lane < kWidth; ++lane) found = std::max(found, greatest[lane]);
  kept = std::bit_cast<float>(found);
}

ASSAY_KERNEL size_t count_above(const float* x, size_t count, float bound) {
  while (count % kWidth != 0) {
    if (!(x[count - 1] <= bound)) return count;
    --count;
  }
  for (; count > 0; count -= kWidth) {
    const Bits is_below = at(x + count - kWidth).lanes <= Vector{} + bound;
    if (!holds_everywhere(is_below)) break;
  }
  return count;
}

// Adds to some vectors of a sum those of each row, or their squares, less the mean.
template <size_t kVectors, bool kAreSquares>
ASSAY_KERNEL [[gnu::always_inline]] inline void add_columns(float* sum, const float* x, const float* mean, size_t rows,
                                                            size_t row) {
  Vector sums[kVectors], less[kVectors] = {};
#pragma GCC unroll 4
  for (size_t v = 0; v < kVectors; ++v) {
    sums[v] = at(sum + v * kWidth).lanes;
    if (mean != nullptr) less[v] = at(mean + v * kWidth).lanes;
  }
  for (size_t r = 0; r < rows; ++r, x += row) {
#pragma GCC unroll 4
    for (size_t v = 0; v < kVectors; ++v) {
      Vector number = at(x + v * kWidth).lanes;
      if constexpr (kAreSquares) {
        number -= less[v];
        number *= number;
      }
      sums[v] += number;
    }
  }
#pragma GCC unroll 4
  for (size_t v = 0; v < kVectors; ++v) at(sum + v * kWidth).lanes = sums[v];
}

template <bool kAreSquares>
ASSAY_KERNEL inline void add_all(float* sum, const float* x, const float* mean, size_t rows, size_t count) {
  constexpr size_t kTogether = 4;
  size_t i = 0;
  const auto means = [&] { return mean == nullptr ? nullptr : mean + i; };
  for (; i + kTogether * kWidth <= count; i += kTogether * kWidth)
    add_columns<kTogether, kAreSquares>(sum + i, x + i, means(), rows, count);
  for (; i + kWidth <= count; i += kWidth) add_columns<1, kAreSquares>(sum + i, x + i, means(), rows, count);
  for (; i < count; ++i) {
    for (size_t r = 0; r < rows; ++r) {
      const float number = x[r * count + i] - (mean != nullptr ? mean[i] : 0);
      sum[i] += kAreSquares ? number * number : number;
    }
  }
}

ASSAY_KERNEL void add(float* sum, const float* x, size_t rows, size_t count) {
  add_all<false>(sum, x, nullptr, rows, count);
}

ASSAY_KERNEL void scale(const float* x, float factor, float* out, size_t count) {
  size_t i = 0;
  for (; i + kWidth <= count; i += kWidth) at(out + i).lanes = at(x + i).lanes * factor;
  for (; i < count; ++i) out[i] = x[i] * factor;
}

#include "engine/devices/cpu/rows/row_conversions_body.h"
#include "engine/devices/cpu/rows/row_softmax_body.h"

ASSAY_KERNEL void dot(const float* q, const float* rows, int64_t row, size_t depth, size_t count, float* out) {
  for (size_t r = 0; r < count; ++r, rows += row) {
    Vector sums = {};
    size_t k = 0;
    for (; k + kWidth <= depth; k += kWidth) sums += at(q + k).lanes * at(rows + k).lanes;
    float sum = sum_of_lanes(sums);
    for (; k < depth; ++k) sum += q[k] * rows[k];
    out[r] = sum;
  }
}

ASSAY_KERNEL void normalize(const float* x, const float* factors, const float* shift, float* out, size_t count,
                            float epsilon, bool is_rms) {
  Vector sums = {}, squares = {}, lanes;
  for (size_t i = 0; i < count && !is_rms; i += kWidth) {
    read_part(x + i, count - i, 0, lanes);
    sums += lanes;
  }
  const auto mean = static_cast<float>(sum_in_doubles(sums) / static_cast<double>(count));
  for (size_t i = 0; i < count; i += kWidth) {
    read_part(x + i, count - i, mean, lanes);
    lanes -= mean;
    squares += lanes * lanes;
  }
  const double variance = sum_in_doubles(squares) / static_cast<double>(count);
  const auto factor = static_cast<float>(1 / std::sqrt(variance + double{epsilon}));
  for (size_t i = 0; i < count; i += kWidth) {
    Vector number;
    read_part(x + i, count - i, 0, lanes);
    lanes = (lanes - mean) * factor;
    if (factors != nullptr) {
      read_part(factors + i, count - i, 0, number);
      lanes *= number;
    }
    if (shift != nullptr) {
      read_part(shift + i, count - i, 0, number);
      lanes += number;
    }
    write_part(lanes, count - i, out + i);
  }
}

constexpr size_t kSummed = 256 * kWidth;  // elements of which float32 sums are kept

ASSAY_KERNEL double sum(const float* x, size_t count) {
  double total = 0;
  size_t i = 0;
  while (i + kWidth <= count) {
    const size_t end = std::min(count / kWidth * kWidth, i + kSummed);
    Vector sums = {};
    for (; i < end; i += kWidth) sums += at(x + i).lanes;
    total += sum_of_lanes(sums);
  }
  for (; i < count; ++i) total += x[i];
  return total;
}

ASSAY_KERNEL double sum_of_squares(const float* x, float mean, size_t count) {
  double total = 0;
  size_t i = 0;
  while (i + kWidth <= count) {
    const size_t end = std::min(count / kWidth * kWidth, i + kSummed);
    Vector sums = {};
    for (; i < end; i += kWidth) {
      const Vector centered = at(x + i).lanes - mean;
      sums += centered * centered;
    }
    total += sum_of_lanes(sums);
  }
  for (; i < count; ++i) total += double{x[i] - mean} * double{x[i] - mean};
  return total;
}

ASSAY_KERNEL void add_squares(float* sums, const float* x, const float* mean, size_t rows, size_t count) {
  add_all<true>(sums, x, mean, rows, count);
}

ASSAY_KERNEL void move_and_scale(const float* x, float mean, float factor, float shift, float* out, size_t count) {
  size_t i = 0;
  for (; i + kWidth <= count; i += kWidth) at(out + i).lanes = (at(x + i).lanes - mean) * factor + shift;
  for (; i < count; ++i) out[i] = (x[i] - mean) * factor + shift;
}

ASSAY_KERNEL void move_and_scale_each(const float* x, const float* mean, const float* factor, const float* shift,
                                      float* out, size_t rows, size_t count) {
  size_t i = 0;
  for (; i + kWidth <= count; i += kWidth) {
    const Vector less = at(mean + i).lanes, by = at(factor + i).lanes, added = at(shift + i).lanes;
    for (size_t r = 0; r < rows; ++r) at(out + r * count + i).lanes = (at(x + r * count + i).lanes - less) * by + added;
  }
  for (; i < count; ++i) {
    for (size_t r = 0; r < rows; ++r) out[r * count + i] = (x[r * count + i] - mean[i]) * factor[i] + shift[i];
  }
}

constexpr RowKernels kKernels = {kName,
                                 maximum,
                                 maxima,
                                 maxima_signed,
                                 maxima_unsigned,
                                 keep_places,
                                 range,
                                 greatest_size,
                                 count_above,
                                 add,
                                 scale,
                                 widen,
                                 narrow,
                                 round,
                                 widen_half,
                                 narrow_half,
                                 widen_signed,
                                 widen_unsigned,
                                 narrow_byte,
                                 interleave3,
                                 interleave3_halves,
                                 interleave3_bytes,
                                 softmax,
                                 log_softmax,
                                 softmax_block,
                                 dot,
                                 normalize,
                                 greatest_of,
                                 sum,
                                 sum_of_squares,
                                 add_squares,
                                 move_and_scale,
                                 move_and_scale_each};
