// The loops of row_kernels.h for vectors of kBytes; included by row_kernels.cpp once for each instruction set, in a
// namespace of its own, with ASSAY_KERNEL saying which.
#include "engine/devices/cpu/vector_math_body.h"

using Four [[gnu::vector_size(16), gnu::may_alias]] = float;

ASSAY_KERNEL inline float sum_of_lanes(const Vector& given) {
  const auto* const parts = reinterpret_cast<const Four*>(&given);
  Four sum = parts[0];
  for (size_t i = 1; i < kBytes / sizeof(Four); ++i) sum += parts[i];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

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

template <typename T>
ASSAY_KERNEL inline void maximum_of_bytes(T* kept, const T* x, size_t count) {
  using Bytes [[gnu::vector_size(kBytes), gnu::aligned(1), gnu::may_alias]] = T;
  size_t i = 0;
  for (; i + kBytes <= count; i += kBytes) {
    const Bytes a = *reinterpret_cast<const Bytes*>(kept + i);
    const Bytes b = *reinterpret_cast<const Bytes*>(x + i);
    const auto is_greater = (Bytes)(b > a);
    *reinterpret_cast<Bytes*>(kept + i) = (b & is_greater) | (a & ~is_greater);
  }
  for (; i < count; ++i) kept[i] = x[i] > kept[i] ? x[i] : kept[i];
}

ASSAY_KERNEL void maximum_signed(int8_t* kept, const int8_t* x, size_t count) { maximum_of_bytes(kept, x, count); }

ASSAY_KERNEL void maximum_unsigned(uint8_t* kept, const uint8_t* x, size_t count) { maximum_of_bytes(kept, x, count); }

ASSAY_KERNEL void range(const float* x, size_t count, float& least, float& greatest) {
  size_t i = 0;
  if (count >= kWidth) {
    Vector low = at(x).lanes;
    Vector high = low;
    for (i = kWidth; i + kWidth <= count; i += kWidth) {
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

ASSAY_KERNEL void add(float* sum, const float* x, size_t count) {
  size_t i = 0;
  for (; i + kWidth <= count; i += kWidth) at(sum + i).lanes = at(sum + i).lanes + at(x + i).lanes;
  for (; i < count; ++i) sum[i] += x[i];
}

ASSAY_KERNEL void add_scaled(float* sums, const float* x, float factor, size_t count) {
  size_t i = 0;
  for (; i + kWidth <= count; i += kWidth) at(sums + i).lanes += at(x + i).lanes * factor;
  for (; i < count; ++i) sums[i] += x[i] * factor;
}

ASSAY_KERNEL void scale(const float* x, float factor, float* out, size_t count) {
  size_t i = 0;
  for (; i + kWidth <= count; i += kWidth) at(out + i).lanes = at(x + i).lanes * factor;
  for (; i < count; ++i) out[i] = x[i] * factor;
}

ASSAY_KERNEL inline float greatest_lane(const Vector& given) {
  const auto* const parts = reinterpret_cast<const Four*>(&given);
  Four kept = parts[0];
  for (size_t i = 1; i < kBytes / sizeof(Four); ++i) {
    kept = ((parts[i] > kept) | (parts[i] != parts[i])) ? parts[i] : kept;
  }
  float greatest = kept[0];
  for (size_t lane = 1; lane < 4; ++lane) {
    greatest = kept[lane] > greatest || kept[lane] != kept[lane] ? kept[lane] : greatest;
  }
  return greatest;
}

using Halves [[gnu::vector_size(kBytes / 2), gnu::may_alias, gnu::aligned(2)]] = uint16_t;
using Words [[gnu::vector_size(kBytes), gnu::may_alias]] = uint32_t;

ASSAY_KERNEL inline float widened(uint16_t x) { return std::bit_cast<float>(static_cast<uint32_t>(x) << 16); }
ASSAY_KERNEL inline uint16_t narrowed(float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  if (x != x) return static_cast<uint16_t>(bits >> 16 | 0x40U);
  return static_cast<uint16_t>((bits + 0x7FFFU + (bits >> 16 & 1U)) >> 16);
}

ASSAY_KERNEL void widen(const uint16_t* x, float* out, size_t count) {
  size_t i = 0;
  for (; i + kWidth <= count; i += kWidth) {
    const Words bits = __builtin_convertvector(*reinterpret_cast<const Halves*>(x + i), Words) << 16;
    at(out + i).lanes = reinterpret_cast<Vector>(bits);
  }
  for (; i < count; ++i) out[i] = widened(x[i]);
}

ASSAY_KERNEL void narrow(const float* x, uint16_t* out, size_t count) {
  size_t i = 0;
  for (; i + kWidth <= count; i += kWidth) {
    const Vector numbers = at(x + i).lanes;
    const Words bits = reinterpret_cast<Words>(numbers);
    const Words rounded = (bits + 0x7FFFU + (bits >> 16 & 1U)) >> 16;
    const Words is_nan = reinterpret_cast<Words>(numbers != numbers);
    const Words chosen = (is_nan & (bits >> 16 | 0x40U)) | (~is_nan & rounded);
    *reinterpret_cast<Halves*>(out + i) = __builtin_convertvector(chosen, Halves);
  }
  for (; i < count; ++i) out[i] = narrowed(x[i]);
}

ASSAY_KERNEL void widen_half(const uint16_t* x, float* out, size_t count) {
  size_t i = 0;
  for (; i + kWidth <= count; i += kWidth) {
    Vector numbers;
    widen_vector(x + i, numbers);
    at(out + i).lanes = numbers;
  }
  for (; i < count; ++i) out[i] = half_of(x[i]);
}

ASSAY_KERNEL void narrow_half(const float* x, uint16_t* out, size_t count) {
  size_t i = 0;
  for (; i + kWidth <= count; i += kWidth) {
    const Vector numbers = at(x + i).lanes;
    narrow_vector(numbers, out + i);
  }
  for (; i < count; ++i) out[i] = half_bits(x[i]);
}

using SignedBytes [[gnu::vector_size(kBytes / 4), gnu::may_alias, gnu::aligned(1)]] = int8_t;
using UnsignedBytes [[gnu::vector_size(kBytes / 4), gnu::may_alias, gnu::aligned(1)]] = uint8_t;

template <typename Codes, typename T>
ASSAY_KERNEL inline void widen_codes(const T* x, float* out, size_t count) {
  size_t i = 0;
  for (; i + kWidth <= count; i += kWidth) {
    const Bits whole = __builtin_convertvector(*reinterpret_cast<const Codes*>(x + i), Bits);
    at(out + i).lanes = __builtin_convertvector(whole, Vector);
  }
  for (; i < count; ++i) out[i] = static_cast<float>(x[i]);
}

ASSAY_KERNEL void widen_signed(const int8_t* x, float* out, size_t count) { widen_codes<SignedBytes>(x, out, count); }
ASSAY_KERNEL void widen_unsigned(const uint8_t* x, float* out, size_t count) {
  widen_codes<UnsignedBytes>(x, out, count);
}

ASSAY_KERNEL void narrow_byte(const float* x, uint8_t* out, size_t count) {
  size_t i = 0;
  for (; i + kWidth <= count; i += kWidth) {
    const Vector numbers = at(x + i).lanes;
    const Bits whole = __builtin_convertvector(numbers, Bits);
    *reinterpret_cast<UnsignedBytes*>(out + i) = __builtin_convertvector(whole, UnsignedBytes);
  }
  for (; i < count; ++i) out[i] = static_cast<uint8_t>(static_cast<int32_t>(x[i]));
}

// Where an element of the result of interleave3 comes from: two vectors of `width` side by side, the first of which is
// row 0, or what was made of rows 0 and 1.
constexpr int turn_of_two(size_t at, size_t width) {
  return at % 3 == 2 ? 0 : static_cast<int>(at / 3 + at % 3 * width);
}
constexpr int turn_of_three(size_t at, size_t width) {
  return static_cast<int>(at % 3 == 2 ? at / 3 + width : at % width);
}

template <size_t kPlace, typename V, size_t... kI>
ASSAY_KERNEL inline void take_turns(const V& a, const V& b, const V& c, V& out, std::index_sequence<kI...>) {
  constexpr size_t kLanes = sizeof...(kI);
  const V two = __builtin_shufflevector(a, b, turn_of_two(kPlace * kLanes + kI, kLanes)...);
  out = __builtin_shufflevector(two, c, turn_of_three(kPlace * kLanes + kI, kLanes)...);
}

template <typename V, typename T>
ASSAY_KERNEL inline void interleave_vectors(const T* const* rows, T* out, size_t count) {
  constexpr size_t kLanes = sizeof(V) / sizeof(T);
  constexpr std::make_index_sequence<kLanes> kAll;
  size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    V from[3];
    V to[3];
    for (size_t row = 0; row < 3; ++row) std::memcpy(&from[row], rows[row] + i, sizeof(V));
    take_turns<0>(from[0], from[1], from[2], to[0], kAll);
    take_turns<1>(from[0], from[1], from[2], to[1], kAll);
    take_turns<2>(from[0], from[1], from[2], to[2], kAll);
    for (size_t place = 0; place < 3; ++place) std::memcpy(out + 3 * i + place * kLanes, &to[place], sizeof(V));
  }
  for (; i < count; ++i) {
    for (size_t row = 0; row < 3; ++row) out[3 * i + row] = rows[row][i];
  }
}

ASSAY_KERNEL void interleave3(const float* const* rows, float* out, size_t count) {
  interleave_vectors<Vector>(rows, out, count);
}

ASSAY_KERNEL void interleave3_bytes(const uint8_t* const* rows, uint8_t* out, size_t count) {
  using Sixteen [[gnu::vector_size(16)]] = uint8_t;
  interleave_vectors<Sixteen>(rows, out, count);
}

ASSAY_KERNEL float greatest_of(const float* x, size_t count) {
  float greatest = x[0];
  size_t i = 0;
  if (count >= kWidth) {
    Vector kept = at(x).lanes;
    for (i = kWidth; i + kWidth <= count; i += kWidth) {
      const Vector b = at(x + i).lanes;
      choose((b > kept) | (b != b), b, kept, kept);
    }
    greatest = greatest_lane(kept);
  }
  for (; i < count; ++i) greatest = x[i] > greatest || x[i] != x[i] ? x[i] : greatest;
  return greatest;
}

ASSAY_KERNEL void softmax(const float* x, float* out, size_t count) {
  const float greatest = greatest_of(x, count);
  Vector sums = {};
  size_t i = 0;
  for (; i + kWidth <= count; i += kWidth) {
    const Vector below = at(x + i).lanes - greatest;
    Vector grown;
    exponential(below, grown);
    at(out + i).lanes = grown;
    sums += grown;
  }
  double sum = sum_of_lanes(sums);
  if (i < count) {
    float tail[kWidth] = {};
    for (size_t k = 0; i + k < count; ++k) tail[k] = x[i + k] - greatest;
    const Vector rest = at(tail).lanes;
    Vector grown;
    exponential(rest, grown);
    for (size_t k = 0; i + k < count; ++k) {
      out[i + k] = grown[k];
      sum += grown[k];
    }
  }
  scale(out, static_cast<float>(1 / sum), out, count);
}

ASSAY_KERNEL void log_softmax(const float* x, float* out, size_t count) {
  const float greatest = greatest_of(x, count);
  Vector sums = {};
  size_t i = 0;
  for (; i + kWidth <= count; i += kWidth) {
    Vector grown;
    exponential(at(x + i).lanes - greatest, grown);
    sums += grown;
  }
  double sum = sum_of_lanes(sums);
  for (; i < count; ++i) sum += std::exp(x[i] - greatest);
  const auto logarithm_of_sum = static_cast<float>(std::log(sum));
  for (i = 0; i + kWidth <= count; i += kWidth) at(out + i).lanes = at(x + i).lanes - greatest - logarithm_of_sum;
  for (; i < count; ++i) out[i] = x[i] - greatest - logarithm_of_sum;
}

// The greatest of the scores that it makes.
ASSAY_KERNEL inline float scale_and_mask(float* x, const float* mask, size_t count, float by, bool divides) {
  float greatest = -std::numeric_limits<float>::infinity();
  Vector kept = Vector{} + greatest;
  size_t i = 0;
  for (; i + kWidth <= count; i += kWidth) {
    Vector y = at(x + i).lanes;
    y = divides ? y / by : y * by;
    if (mask != nullptr) y += at(mask + i).lanes;
    at(x + i).lanes = y;
    choose((y > kept) | (y != y), y, kept, kept);
  }
  greatest = greatest_lane(kept);
  for (; i < count; ++i) {
    x[i] = divides ? x[i] / by : x[i] * by;
    if (mask != nullptr) x[i] += mask[i];
    greatest = x[i] > greatest || x[i] != x[i] ? x[i] : greatest;
  }
  return greatest;
}

// Whole vectors, then the rest in one.
ASSAY_KERNEL inline double exponentials(float* x, size_t count, float less) {
  Vector sums = {};
  Vector grown;
  size_t i = 0;
  for (; i + kWidth <= count; i += kWidth) {
    const Vector below = at(x + i).lanes - less;
    exponential(below, grown);
    at(x + i).lanes = grown;
    sums += grown;
  }
  double sum = sum_of_lanes(sums);
  if (i == count) return sum;
  Vector tail = {};
  for (size_t k = 0; i + k < count; ++k) tail[k] = x[i + k] - less;
  exponential(tail, grown);
  for (size_t k = 0; i + k < count; ++k) {
    x[i + k] = grown[k];
    sum += grown[k];
  }
  return sum;
}

ASSAY_KERNEL void softmax_block(float* x, const float* mask, size_t count, float by, bool divides,
                                SoftmaxSoFar& state) {
  constexpr float kLeast = -std::numeric_limits<float>::infinity();
  const float greatest = scale_and_mask(x, mask, count, by, divides);
  const float before = state.greatest;
  if (greatest > before || greatest != greatest) state.greatest = greatest;
  state.factor = before == state.greatest ? 1 : 0;
  if (state.greatest == kLeast) {
    std::fill_n(x, count, 0.0F);
    return;
  }
  if (before != state.greatest && before != kLeast) state.factor = std::exp(before - state.greatest);
  const auto sum = static_cast<float>(exponentials(x, count, state.greatest));
  state.sum = state.sum * state.factor + sum;
}

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
  const auto sum_of = [](const Vector& lanes) {
    double sum = 0;
    for (size_t lane = 0; lane < kWidth; ++lane) sum += lanes[lane];
    return sum;
  };
  size_t i = 0;
  double sum = 0;
  if (!is_rms) {
    Vector sums = {};
    for (; i + kWidth <= count; i += kWidth) sums += at(x + i).lanes;
    sum = sum_of(sums);
    for (; i < count; ++i) sum += x[i];
  }
  const auto mean = static_cast<float>(sum / static_cast<double>(count));
  Vector squares = {};
  for (i = 0; i + kWidth <= count; i += kWidth) {
    const Vector centered = at(x + i).lanes - mean;
    squares += centered * centered;
  }
  double square = sum_of(squares);
  for (; i < count; ++i) square += double{x[i] - mean} * double{x[i] - mean};
  const auto factor = static_cast<float>(1 / std::sqrt(square / static_cast<double>(count) + epsilon));
  for (i = 0; i + kWidth <= count; i += kWidth) {
    Vector result = (at(x + i).lanes - mean) * factor;
    if (factors != nullptr) result *= at(factors + i).lanes;
    if (shift != nullptr) result += at(shift + i).lanes;
    at(out + i).lanes = result;
  }
  for (; i < count; ++i) {
    const float scaled = (x[i] - mean) * factor * (factors != nullptr ? factors[i] : 1);
    out[i] = shift != nullptr ? scaled + shift[i] : scaled;
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

ASSAY_KERNEL void add_squares(float* sums, const float* x, const float* mean, size_t count) {
  size_t i = 0;
  for (; i + kWidth <= count; i += kWidth) {
    Vector centered = at(x + i).lanes;
    if (mean != nullptr) centered -= at(mean + i).lanes;
    at(sums + i).lanes += centered * centered;
  }
  for (; i < count; ++i) {
    const float centered = x[i] - (mean != nullptr ? mean[i] : 0);
    sums[i] += centered * centered;
  }
}

ASSAY_KERNEL void move_and_scale(const float* x, float mean, float factor, float shift, float* out, size_t count) {
  size_t i = 0;
  for (; i + kWidth <= count; i += kWidth) at(out + i).lanes = (at(x + i).lanes - mean) * factor + shift;
  for (; i < count; ++i) out[i] = (x[i] - mean) * factor + shift;
}

ASSAY_KERNEL void move_and_scale_each(const float* x, const float* mean, const float* factor, const float* shift,
                                      float* out, size_t count) {
  size_t i = 0;
  for (; i + kWidth <= count; i += kWidth) {
    at(out + i).lanes = (at(x + i).lanes - at(mean + i).lanes) * at(factor + i).lanes + at(shift + i).lanes;
  }
  for (; i < count; ++i) out[i] = (x[i] - mean[i]) * factor[i] + shift[i];
}
