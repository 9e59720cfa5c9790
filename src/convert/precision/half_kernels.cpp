#include "convert/precision/half_kernels.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/instructions.h"
#include "base/parallel.h"
#include "tensor/casts.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace assay::convert {
namespace {

using tensor::Bytes;
using tensor::DType;

constexpr uint64_t kGrain = uint64_t{1} << 16;  // elements of one piece of parallel work
constexpr size_t kBlock = 64;                   // loops of a fixed length are what the compiler vectorises at -O2
constexpr uint32_t kMagnitude = 0x7FFFFFFF;
constexpr uint32_t kInfinity = 0x7F800000;

// Bounds as magnitude bits of float32.
struct Format {
  uint32_t overflow;         // the smallest that rounds to infinity
  uint32_t flush;            // the largest that rounds to zero
  uint32_t largest;          // the largest number of the format
  uint32_t smallest_normal;  // below it digits are lost
  uint16_t largest_code;
};

constexpr Format kFloat16 = {0x477FF000, 0x33000000, 0x477FE000, 0x38800000, 0x7BFF};
constexpr Format kBfloat16 = {0x7F7F8000, 0x00008000, 0x7F7F0000, 0x00800000, 0x7F7F};

const Format& format_of(DType half) { return half == DType::float16 ? kFloat16 : kBfloat16; }

struct BlockCount {
  uint32_t largest = 0;
  uint32_t overflows = 0;
  uint32_t flushed = 0;
};

template <size_t Count>
[[gnu::always_inline]] inline void survey_block(const Format& format, const std::byte* from, BlockCount& count) {
  uint32_t bits[Count];
  std::memcpy(bits, from, sizeof bits);
  for (size_t i = 0; i < Count; ++i) {
    const uint32_t magnitude = bits[i] & kMagnitude;
    const uint32_t finite = magnitude < kInfinity ? magnitude : 0;
    count.largest = std::max(count.largest, finite);
    count.overflows += finite >= format.overflow ? 1U : 0U;
    count.flushed += magnitude - 1 < format.flush ? 1U : 0U;
  }
}

[[gnu::always_inline]] inline BlockCount survey_run(const Format& format, Bytes floats) {
  BlockCount count;
  const std::byte* from = floats.data();
  size_t left = floats.size() / sizeof(float);
  for (; left >= kBlock; left -= kBlock, from += kBlock * sizeof(float)) survey_block<kBlock>(format, from, count);
  for (; left > 0; --left, from += sizeof(float)) survey_block<1>(format, from, count);
  return count;
}

// Rounds to nearest even by adding what carries into the upper half; NaNs keep a part of their payload and are quiet.
template <size_t Count>
[[gnu::always_inline]] inline void bfloat16_block(const std::byte* from, uint16_t* to) {
  uint32_t bits[Count];
  std::memcpy(bits, from, sizeof bits);
  for (size_t i = 0; i < Count; ++i) {
    const bool is_nan = (bits[i] & kMagnitude) > kInfinity;
    const uint32_t rounded = bits[i] + 0x7FFF + (bits[i] >> 16 & 1);
    to[i] = static_cast<uint16_t>((is_nan ? bits[i] | 0x400000 : rounded) >> 16);
  }
}

[[gnu::always_inline]] inline void bfloat16_run(Bytes floats, uint16_t* to) {
  const std::byte* from = floats.data();
  size_t left = floats.size() / sizeof(float);
  for (; left >= kBlock; left -= kBlock, from += kBlock * sizeof(float), to += kBlock) bfloat16_block<kBlock>(from, to);
  for (; left > 0; --left, from += sizeof(float), ++to) bfloat16_block<1>(from, to);
}

void float16_run(Bytes floats, uint16_t* to) {
  double values[kBlock];
  const uint64_t count = floats.size() / sizeof(float);
  for (uint64_t done = 0; done < count; done += kBlock) {
    const std::span<double> block(values, std::min<uint64_t>(kBlock, count - done));
    tensor::load(DType::float32, floats, done, block);
    tensor::store(DType::float16, block, done, std::as_writable_bytes(std::span(to, count)));
  }
}

#if defined(__x86_64__)
[[gnu::target("avx2")]] BlockCount survey_run_avx2(const Format& format, Bytes floats) {
  return survey_run(format, floats);
}

[[gnu::target("avx2")]] void bfloat16_run_avx2(Bytes floats, uint16_t* to) { bfloat16_run(floats, to); }

[[gnu::target("avx,f16c")]] void float16_run_f16c(Bytes floats, uint16_t* to) {
  const uint64_t count = floats.size() / sizeof(float);
  uint64_t done = 0;
  for (; done + 8 <= count; done += 8) {
    const __m256 values = _mm256_loadu_ps(reinterpret_cast<const float*>(floats.data() + done * sizeof(float)));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + done), _mm256_cvtps_ph(values, _MM_FROUND_TO_NEAREST_INT));
  }
  float16_run(floats.subspan(done * sizeof(float)), to + done);
}
#endif

BlockCount survey_piece(const Format& format, Bytes floats) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return survey_run_avx2(format, floats);
#endif
  return survey_run(format, floats);
}

void narrow_piece(DType half, Bytes floats, uint16_t* to) {
#if defined(__x86_64__)
  static const bool can_convert = __builtin_cpu_supports("avx2") && has_f16c();
  if (half == DType::float16 && can_convert) return float16_run_f16c(floats, to);
  if (half == DType::bfloat16 && __builtin_cpu_supports("avx2")) return bfloat16_run_avx2(floats, to);
#endif
  half == DType::float16 ? float16_run(floats, to) : bfloat16_run(floats, to);
}

void clamp_piece(const Format& format, Bytes floats, std::span<uint16_t> codes) {
  for (size_t i = 0; i < codes.size(); ++i) {
    uint32_t bits = 0;
    std::memcpy(&bits, floats.data() + i * sizeof bits, sizeof bits);
    const uint32_t magnitude = bits & kMagnitude;
    const uint16_t sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
    if (magnitude >= format.overflow && magnitude < kInfinity) codes[i] = sign | format.largest_code;
    if (magnitude - 1 < format.flush) codes[i] = sign | 1;
  }
}

Bytes elements(Bytes floats, uint64_t begin, uint64_t end) {
  return floats.subspan(begin * sizeof(float), (end - begin) * sizeof(float));
}

}  // namespace

float largest_half(DType half) { return std::bit_cast<float>(format_of(half).largest); }
float smallest_normal_half(DType half) { return std::bit_cast<float>(format_of(half).smallest_normal); }
float largest_flushed_half(DType half) { return std::bit_cast<float>(format_of(half).flush); }

HalfSurvey survey_floats(DType half, Bytes floats) {
  const Format& format = format_of(half);
  const auto survey = [&](uint64_t begin, uint64_t end) {
    const BlockCount count = survey_piece(format, elements(floats, begin, end));
    return HalfSurvey{std::bit_cast<float>(count.largest), count.overflows, count.flushed};
  };
  const auto combine = [](const HalfSurvey& a, const HalfSurvey& b) {
    return HalfSurvey{std::max(a.largest, b.largest), a.overflows + b.overflows, a.flushed + b.flushed};
  };
  return parallel_reduce(floats.size() / sizeof(float), kGrain, HalfSurvey(), survey, combine);
}

void narrow_floats(DType half, Bytes floats, bool clamps, std::span<uint16_t> out) {
  parallel_for(out.size(), kGrain, [&](uint64_t begin, uint64_t end) {
    const Bytes piece = elements(floats, begin, end);
    narrow_piece(half, piece, out.data() + begin);
    if (clamps) clamp_piece(format_of(half), piece, out.subspan(begin, end - begin));
  });
}

}  // namespace assay::convert
