// Rows of float32 from and to other types and orders; included by row_kernels_body.h.

#include "engine/devices/cpu/vector_numbers_body.h"

ASSAY_KERNEL inline float widened(uint16_t x) { return std::bit_cast<float>(static_cast<uint32_t>(x) << 16); }
ASSAY_KERNEL inline uint16_t narrowed(float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  if (x != x) return static_cast<uint16_t>(bits >> 16 | 0x40U);
  return static_cast<uint16_t>((bits + 0x7FFFU + (bits >> 16 & 1U)) >> 16);
}

ASSAY_KERNEL void widen(const uint16_t* x, float* out, size_t count) {
  size_t i = 0;
  for (; i + kWidth <= count; i += kWidth) {
    Vector numbers;
    read_numbers(x + i, numbers);
    at(out + i).lanes = numbers;
  }
  for (; i < count; ++i) out[i] = widened(x[i]);
}

ASSAY_KERNEL void round(const float* x, float* out, size_t count) {
  size_t i = 0;
  for (; i + kWidth <= count; i += kWidth) {
    const Vector numbers = at(x + i).lanes;
    Words rounded;
    round_words(numbers, rounded);
    at(out + i).lanes = reinterpret_cast<Vector>(rounded & 0xFFFF0000U);
  }
  for (; i < count; ++i) out[i] = widened(narrowed(x[i]));
}

ASSAY_KERNEL void narrow(const float* x, uint16_t* out, size_t count) {
  size_t i = 0;
  for (; i + kWidth <= count; i += kWidth) {
    const Vector numbers = at(x + i).lanes;
    write_numbers(numbers, out + i);
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

template <typename T>
ASSAY_KERNEL inline void widen_codes(const T* x, float* out, size_t count) {
  size_t i = 0;
  for (; i + kWidth <= count; i += kWidth) {
    Vector numbers;
    read_numbers(x + i, numbers);
    at(out + i).lanes = numbers;
  }
  for (; i < count; ++i) out[i] = static_cast<float>(x[i]);
}

ASSAY_KERNEL void widen_signed(const int8_t* x, float* out, size_t count) { widen_codes(x, out, count); }
ASSAY_KERNEL void widen_unsigned(const uint8_t* x, float* out, size_t count) { widen_codes(x, out, count); }

// Writes the bytes of whole vectors. Returns the number of bytes; a template, so that instructions of other sets are
// not looked at.
template <typename Whole>
ASSAY_KERNEL inline size_t narrow_vectors(const float* x, uint8_t* out, size_t count) {
  size_t i = 0;
#if defined(__x86_64__)
  if constexpr (sizeof(Whole) == 32) {
    const __m256i low = _mm256_set1_epi32(0xFF);
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    for (; i + 4 * kWidth <= count; i += 4 * kWidth) {
      __m256i bytes[4];
#pragma GCC unroll 4
      for (size_t v = 0; v < 4; ++v) bytes[v] = _mm256_cvttps_epi32(_mm256_loadu_ps(x + i + v * kWidth)) & low;
      const __m256i all =
          _mm256_packus_epi16(_mm256_packus_epi32(bytes[0], bytes[1]), _mm256_packus_epi32(bytes[2], bytes[3]));
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i), _mm256_permutevar8x32_epi32(all, order));
    }
  }
#endif
  for (; i + kWidth <= count; i += kWidth) {
    const Vector numbers = at(x + i).lanes;
    const Whole whole = __builtin_convertvector(numbers, Whole);
    write_low_bytes(whole, out + i);
  }
  return i;
}

ASSAY_KERNEL void narrow_byte(const float* x, uint8_t* out, size_t count) {
  for (size_t i = narrow_vectors<Bits>(x, out, count); i < count; ++i)
    out[i] = static_cast<uint8_t>(static_cast<int32_t>(x[i]));
}

// The source of an element of the result of interleave3: two vectors of `width` side by side, the first of which is row
// 0, or what was made of rows 0 and 1.
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

ASSAY_KERNEL void interleave3_halves(const uint16_t* const* rows, uint16_t* out, size_t count) {
  using Eight [[gnu::vector_size(16)]] = uint16_t;
  interleave_vectors<Eight>(rows, out, count);
}

ASSAY_KERNEL void interleave3_bytes(const uint8_t* const* rows, uint8_t* out, size_t count) {
  using Sixteen [[gnu::vector_size(16)]] = uint8_t;
  interleave_vectors<Sixteen>(rows, out, count);
}
