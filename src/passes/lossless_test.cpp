#include "passes/lossless.h"

#include <cmath>

#include <gtest/gtest.h>

#include "tensor/casts.h"

namespace assay::passes {
namespace {

using tensor::DType;

// All numbers of a type of at most 16 bits, as doubles.
std::vector<double> all_numbers(DType dtype) {
  const uint32_t bits = tensor::bit_width(dtype);
  std::vector<uint64_t> patterns(uint64_t{1} << bits);
  for (uint64_t i = 0; i < patterns.size(); ++i) patterns[i] = i;
  const DType carrier = bits == 16 ? DType::uint16 : bits == 8 ? DType::uint8 : bits == 4 ? DType::uint4 : DType::uint2;
  std::vector<std::byte> bytes(*tensor::packed_bytes(carrier, patterns.size()));
  tensor::store(carrier, std::span<const uint64_t>(patterns), 0, bytes);
  std::vector<double> numbers(patterns.size());
  tensor::load(dtype, bytes, 0, numbers);
  return numbers;
}

bool survives(double number, DType to) {
  std::vector<std::byte> bytes(8);
  double back = 0;
  if (tensor::is_floating(to)) {
    tensor::store(to, std::span<const double>(&number, 1), 0, bytes);
    tensor::load(to, bytes, 0, std::span(&back, 1));
  } else {
    if (number != std::floor(number) || std::isinf(number)) return false;
    const int64_t integer = static_cast<int64_t>(number);
    tensor::store(to, std::span<const int64_t>(&integer, 1), 0, bytes);
    tensor::load(to, bytes, 0, std::span(&back, 1));
    if (std::signbit(number) && number == 0) return false;
  }
  return std::isnan(number) ? std::isnan(back) : back == number && std::signbit(back) == std::signbit(number);
}

// The table against the casts themselves, for every number of every short type.
TEST(Lossless, HoldsForEveryNumberOfShortTypes) {
  const DType short_types[] = {DType::uint2,          DType::int2,       DType::uint4,         DType::int4,
                               DType::uint8,          DType::int8,       DType::uint16,        DType::int16,
                               DType::float16,        DType::bfloat16,   DType::float4e2m1,    DType::float8e4m3fn,
                               DType::float8e4m3fnuz, DType::float8e5m2, DType::float8e5m2fnuz};
  const DType targets[] = {DType::uint4,    DType::int4,    DType::uint8,  DType::int8,  DType::uint16,
                           DType::int16,    DType::int32,   DType::uint32, DType::int64, DType::float16,
                           DType::bfloat16, DType::float32, DType::float64};
  for (const DType from : short_types) {
    const std::vector<double> numbers = all_numbers(from);
    for (const DType to : targets) {
      bool is_kept = true;
      for (const double number : numbers) is_kept = is_kept && survives(number, to);
      EXPECT_EQ(is_lossless(from, to), is_kept) << tensor::name(from) << " to " << tensor::name(to);
    }
  }
}

TEST(Lossless, OfLongTypes) {
  EXPECT_TRUE(is_lossless(DType::int32, DType::float64) && is_lossless(DType::uint32, DType::int64));
  EXPECT_TRUE(is_lossless(DType::float32, DType::float64) && is_lossless(DType::boolean, DType::float8e5m2));
  EXPECT_FALSE(is_lossless(DType::int64, DType::float64) || is_lossless(DType::int32, DType::float32));
  EXPECT_FALSE(is_lossless(DType::uint64, DType::int64) || is_lossless(DType::float64, DType::float32));
  EXPECT_FALSE(is_lossless(DType::float32, DType::string) || is_lossless(DType::complex64, DType::complex128));
}

}  // namespace
}  // namespace assay::passes
