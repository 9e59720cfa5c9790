#include "tensor/casts.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "base/check.h"
#include "base/error.h"
#include "tensor/element_codecs.h"

namespace assay::tensor {
namespace {

// Element `index` of densely packed elements of less than a byte; they may lie across two bytes.
template <uint32_t Bits>
uint8_t get_bits(const std::byte* base, uint64_t index) {
  const uint64_t byte = index / 8 * Bits + index % 8 * Bits / 8;
  const uint32_t shift = index % 8 * Bits % 8;
  uint32_t window = std::to_integer<uint32_t>(base[byte]);
  if (shift + Bits > 8) window |= std::to_integer<uint32_t>(base[byte + 1]) << 8;
  return window >> shift & ((1U << Bits) - 1);
}

template <uint32_t Bits>
void put_bits(std::byte* base, uint64_t index, uint32_t code) {
  const uint64_t byte = index / 8 * Bits + index % 8 * Bits / 8;
  const uint32_t shift = index % 8 * Bits % 8;
  const uint32_t mask = ((1U << Bits) - 1) << shift;
  const uint32_t bits = code << shift & mask;
  base[byte] = (base[byte] & std::byte(~mask)) | std::byte(bits);
  if (shift + Bits > 8) base[byte + 1] = (base[byte + 1] & std::byte(~mask >> 8)) | std::byte(bits >> 8);
}

// Loops of a fixed length are what the compiler vectorises at -O2.
constexpr size_t kBlock = 64;

template <typename Codec, typename C>
void load_run(const std::byte* from, C* to, size_t count) {
  typename Codec::Code codes[kBlock];
  memcpy(codes, from, count * sizeof codes[0]);
  if (count == kBlock) {
    for (size_t i = 0; i < kBlock; ++i) to[i] = Codec::template decode<C>(codes[i]);
  } else {
    for (size_t i = 0; i < count; ++i) to[i] = Codec::template decode<C>(codes[i]);
  }
}

#if defined(__x86_64__)
// Computes load_run, bit for bit, by wider instructions.
template <typename Codec>
[[gnu::target("avx2")]] void load_block_avx2(const std::byte* from, double* to) {
  typename Codec::Code codes[kBlock];
  memcpy(codes, from, sizeof codes);
  for (size_t i = 0; i < kBlock; ++i) to[i] = Codec::template decode<double>(codes[i]);
}
#endif

// Loads as many full blocks as there are, where that is faster than load_run; the number of elements loaded.
template <typename Codec, typename C>
size_t load_blocks([[maybe_unused]] const std::byte* from, [[maybe_unused]] std::span<C> out) {
  size_t loaded = 0;
#if defined(__x86_64__)
  if constexpr (std::is_same_v<C, double> && Codec::kBits <= 32) {
    if (!__builtin_cpu_supports("avx2")) return 0;
    for (; loaded + kBlock <= out.size(); loaded += kBlock) {
      load_block_avx2<Codec>(from + loaded * (Codec::kBits / 8), out.data() + loaded);
    }
  }
#endif
  return loaded;
}

template <typename Codec, typename C>
void store_run(const C* from, std::byte* to, size_t count) {
  typename Codec::Code codes[kBlock];
  if (count == kBlock) {
    for (size_t i = 0; i < kBlock; ++i) codes[i] = Codec::encode(from[i]);
  } else {
    for (size_t i = 0; i < count; ++i) codes[i] = Codec::encode(from[i]);
  }
  memcpy(to, codes, count * sizeof codes[0]);
}

template <typename Codec, typename C>
void load_all(const std::byte* base, uint64_t first, std::span<C> out) {
  if constexpr (Codec::kBits < 8) {
    for (size_t i = 0; i < out.size(); ++i) {
      out[i] = Codec::template decode<C>(get_bits<Codec::kBits>(base, first + i));
    }
  } else {
    constexpr size_t kBytes = Codec::kBits / 8;
    for (size_t i = load_blocks<Codec>(base + first * kBytes, out); i < out.size(); i += kBlock) {
      load_run<Codec>(base + (first + i) * kBytes, out.data() + i, std::min(kBlock, out.size() - i));
    }
  }
}

template <typename Codec, typename C>
void store_all(std::span<const C> values, uint64_t first, std::byte* base) {
  if constexpr (Codec::kBits < 8) {
    for (size_t i = 0; i < values.size(); ++i) put_bits<Codec::kBits>(base, first + i, Codec::encode(values[i]));
  } else {
    constexpr size_t kBytes = Codec::kBits / 8;
    for (size_t i = 0; i < values.size(); i += kBlock) {
      store_run<Codec>(values.data() + i, base + (first + i) * kBytes, std::min(kBlock, values.size() - i));
    }
  }
}

void check_range(DType dtype, uint64_t first, uint64_t count, uint64_t size_bytes) {
  const std::optional<uint64_t> needed = packed_bytes(dtype, first + count);
  ASSAY_CHECK(first + count >= first && needed && *needed <= size_bytes);
}

template <typename C>
void load_as(DType dtype, Bytes bytes, uint64_t first, std::span<C> out) {
  with_codec(dtype, [&]<typename Codec>(Codec) {
    check_range(dtype, first, out.size(), bytes.size());
    if constexpr (Codec::kIsFloating && std::is_integral_v<C>) {
      fail(ErrorCode::unsupported, "elements of `{}` are not integers", name(dtype));
    } else {
      load_all<Codec>(bytes.data(), first, out);
    }
  });
}

template <typename C>
void store_as(DType dtype, std::span<const C> values, uint64_t first, std::span<std::byte> bytes) {
  with_codec(dtype, [&]<typename Codec>(Codec) {
    check_range(dtype, first, values.size(), bytes.size());
    store_all<Codec>(values, first, bytes.data());
  });
}

// The type of a complex number's two parts.
DType part_type(DType dtype) {
  if (dtype == DType::complex64) return DType::float32;
  if (dtype == DType::complex128) return DType::float64;
  fail(ErrorCode::unsupported, "elements of `{}` are not complex numbers", name(dtype));
}

}  // namespace

void load(DType dtype, Bytes bytes, uint64_t first, std::span<double> out) { load_as(dtype, bytes, first, out); }
void load(DType dtype, Bytes bytes, uint64_t first, std::span<int64_t> out) { load_as(dtype, bytes, first, out); }
void load(DType dtype, Bytes bytes, uint64_t first, std::span<uint64_t> out) { load_as(dtype, bytes, first, out); }

void store(DType dtype, std::span<const double> values, uint64_t first, std::span<std::byte> bytes) {
  store_as(dtype, values, first, bytes);
}
void store(DType dtype, std::span<const int64_t> values, uint64_t first, std::span<std::byte> bytes) {
  store_as(dtype, values, first, bytes);
}
void store(DType dtype, std::span<const uint64_t> values, uint64_t first, std::span<std::byte> bytes) {
  store_as(dtype, values, first, bytes);
}

// A complex number is laid out as an array of its two parts.
void load_complex(DType dtype, Bytes bytes, uint64_t first, std::span<std::complex<double>> out) {
  load(part_type(dtype), bytes, 2 * first, std::span(reinterpret_cast<double*>(out.data()), 2 * out.size()));
}
void store_complex(DType dtype, std::span<const std::complex<double>> values, uint64_t first,
                   std::span<std::byte> bytes) {
  const auto* parts = reinterpret_cast<const double*>(values.data());
  store(part_type(dtype), std::span(parts, 2 * values.size()), 2 * first, bytes);
}

}  // namespace assay::tensor
