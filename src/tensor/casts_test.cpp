#include "tensor/casts.h"

#include <array>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "base/check.h"
#include "base/error.h"

namespace assay::tensor {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");

std::vector<std::byte> raw(std::initializer_list<int> values) {
  std::vector<std::byte> bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

template <typename C>
std::vector<C> loaded(DType dtype, const std::vector<std::byte>& bytes, uint64_t first, size_t count) {
  std::vector<C> values(count);
  load(dtype, bytes, first, std::span<C>(values));
  return values;
}

template <typename C>
std::vector<std::byte> stored(DType dtype, const std::vector<C>& values) {
  std::vector<std::byte> bytes(*packed_bytes(dtype, values.size()));
  store(dtype, std::span<const C>(values), 0, bytes);
  return bytes;
}

using Doubles = std::vector<double>;
using Ints = std::vector<int64_t>;

TEST(Casts, four_bits_start_in_the_low_nibble) {
  EXPECT_EQ(loaded<int64_t>(DType::int4, raw({0x81, 0x07}), 0, 3), (Ints{1, -8, 7}));
  EXPECT_EQ(loaded<int64_t>(DType::uint4, raw({0x81, 0x07}), 1, 2), (Ints{8, 7}));
  EXPECT_EQ(stored(DType::int4, Ints{1, -8, 7}), raw({0x81, 0x07}));
}

TEST(Casts, two_bits_are_four_a_byte) {
  EXPECT_EQ(loaded<int64_t>(DType::uint2, raw({0b11100100, 0b01}), 0, 5), (Ints{0, 1, 2, 3, 1}));
  EXPECT_EQ(loaded<int64_t>(DType::int2, raw({0b11100100}), 0, 4), (Ints{0, 1, -2, -1}));
  EXPECT_EQ(stored(DType::uint2, Ints{0, 1, 2, 3, 1}), raw({0b11100100, 0b01}));
}

TEST(Casts, six_bits_are_four_in_three_bytes) {
  // codes 0x01 0x3F 0x08 0x20
  const std::vector<std::byte> packed = raw({0xC1, 0x8F, 0x80});
  EXPECT_EQ(loaded<double>(DType::float6e2m3, packed, 0, 4), (Doubles{0.125, -7.5, 1.0, -0.0}));
  EXPECT_EQ(loaded<double>(DType::float6e2m3, packed, 1, 2), (Doubles{-7.5, 1.0}));
  EXPECT_EQ(stored(DType::float6e2m3, Doubles{0.125, -7.5, 1.0, -0.0}), packed);
}

TEST(Casts, a_store_keeps_the_neighbours_in_a_byte) {
  std::vector<std::byte> bytes = raw({0xFF, 0xFF, 0xFF});
  store(DType::uint4, std::span<const int64_t>(Ints{0, 0}), 1, bytes);
  EXPECT_EQ(bytes, raw({0x0F, 0xF0, 0xFF}));
  bytes = raw({0xFF, 0xFF, 0xFF});
  store(DType::float6e2m3, std::span<const double>(Doubles{0}), 1, bytes);
  EXPECT_EQ(bytes, raw({0x3F, 0xF0, 0xFF}));
  bytes = raw({0xFF, 0xFF, 0xFF});
  store(DType::uint2, std::span<const int64_t>(Ints{0}), 5, bytes);
  EXPECT_EQ(bytes, raw({0xFF, 0xF3, 0xFF}));
}

TEST(Casts, every_length_and_offset_gives_the_same_elements) {
  Doubles values(300);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i % 7) - 3;
  for (const DType dtype : {DType::float16, DType::bfloat16, DType::int8, DType::float64, DType::float6e3m2,
                            DType::int4, DType::float8e5m2}) {
    const std::vector<std::byte> packed = stored(dtype, values);
    for (const size_t count : {1, 63, 64, 65, 128, 200}) {
      for (const size_t first : {0, 1, 3, 64, 99}) {
        const Doubles expected(values.begin() + first, values.begin() + first + count);
        EXPECT_EQ(loaded<double>(dtype, packed, first, count), expected) << name(dtype) << " " << first << " " << count;
      }
    }
  }
}

TEST(Casts, integers_keep_all_their_bits) {
  const Ints values = {std::numeric_limits<int64_t>::min(), (int64_t{1} << 53) + 1, -1};
  EXPECT_EQ(loaded<int64_t>(DType::int64, stored(DType::int64, values), 0, 3), values);
  const std::vector<uint64_t> large = {std::numeric_limits<uint64_t>::max()};
  EXPECT_EQ(loaded<uint64_t>(DType::uint64, stored(DType::uint64, large), 0, 1), large);
  EXPECT_EQ(loaded<double>(DType::uint64, stored(DType::uint64, large), 0, 1), Doubles{0x1p64});
}

TEST(Casts, integers_wrap) {
  EXPECT_EQ(stored(DType::uint8, Ints{300, -1}), raw({44, 255}));
  EXPECT_EQ(stored(DType::uint8, Doubles{300.7, -1.9, 2.5}), raw({44, 255, 2}));
  EXPECT_EQ(stored(DType::int4, Ints{9, -9}), raw({0x79}));
  EXPECT_EQ(stored(DType::int8, Doubles{kNan, kInfinity}), raw({0, 0}));
  const std::vector<std::byte> packed = stored(DType::int64, Doubles{kNan, 1e300, -1e300, -0x1p63});
  EXPECT_EQ(loaded<int64_t>(DType::int64, packed, 0, 4), Ints(4, std::numeric_limits<int64_t>::min()));
  EXPECT_EQ(loaded<uint64_t>(DType::uint64, stored(DType::uint64, Doubles{0x1.8p63, -1}), 0, 2),
            (std::vector<uint64_t>{uint64_t{3} << 62, std::numeric_limits<uint64_t>::max()}));
}

TEST(Casts, booleans_are_zero_or_one) {
  EXPECT_EQ(loaded<int64_t>(DType::boolean, raw({0, 1, 7}), 0, 3), (Ints{0, 1, 1}));
  EXPECT_EQ(stored(DType::boolean, Doubles{0, -0.0, 0.25, kNan}), raw({0, 0, 1, 1}));
  EXPECT_EQ(stored(DType::boolean, Ints{0, 256}), raw({0, 1}));
}

TEST(Casts, doubles_are_rounded_once) {
  // Just above halfway: a float32 in between would make it a tie, which rounds down.
  EXPECT_EQ(stored(DType::bfloat16, Doubles{1 + 0x1p-8 + 0x1p-40}), raw({0x81, 0x3F}));
  EXPECT_EQ(stored(DType::float16, Doubles{1 + 0x1p-11 + 0x1p-50}), raw({0x01, 0x3C}));
  EXPECT_EQ(stored(DType::float16, Doubles{1 + 0x1p-11}), raw({0x00, 0x3C}));
  EXPECT_EQ(stored(DType::bfloat16, Ints{(int64_t{0x101} << 54) + 1}), raw({0x81, 0x5E}));
}

TEST(Casts, nan_payloads_survive_a_round_trip) {
  const std::vector<std::byte> quiet = raw({0x23, 0x7E, 0x01, 0xFF});
  EXPECT_EQ(stored(DType::float16, loaded<double>(DType::float16, quiet, 0, 2)), quiet);
}

TEST(Casts, complex_numbers_are_pairs) {
  const std::vector<std::complex<double>> values = {{1, -2}, {0.5, 4}};
  for (const DType dtype : {DType::complex64, DType::complex128}) {
    std::vector<std::byte> bytes(*packed_bytes(dtype, 3));
    store_complex(dtype, values, 1, bytes);
    std::vector<std::complex<double>> back(3);
    load_complex(dtype, bytes, 0, back);
    EXPECT_EQ(back, (std::vector<std::complex<double>>{{0, 0}, {1, -2}, {0.5, 4}}));
  }
}

TEST(Casts, refuse_what_is_not_a_number_of_the_carrier) {
  std::vector<int64_t> ints(1);
  Doubles doubles(1);
  const std::vector<std::byte> bytes(16);
  EXPECT_THROW(load(DType::float32, bytes, 0, std::span<int64_t>(ints)), Error);
  EXPECT_THROW(load(DType::string, bytes, 0, std::span<double>(doubles)), Error);
  EXPECT_THROW(load(DType::complex64, bytes, 0, std::span<double>(doubles)), Error);
  EXPECT_THROW(load(static_cast<DType>(77), bytes, 0, std::span<double>(doubles)), Error);
}

TEST(Casts, never_leave_the_bytes) {
  Doubles doubles(2);
  const std::vector<std::byte> bytes(8);
  EXPECT_THROW(load(DType::float32, bytes, 1, std::span<double>(doubles)), InternalError);
  EXPECT_THROW(load(DType::int4, bytes, 15, std::span<double>(doubles)), InternalError);
  EXPECT_THROW(load(DType::int8, bytes, std::numeric_limits<uint64_t>::max(), std::span<double>(doubles)),
               InternalError);
  EXPECT_NO_THROW(load(DType::int4, bytes, 14, std::span<double>(doubles)));
}

}  // namespace
}  // namespace assay::tensor
