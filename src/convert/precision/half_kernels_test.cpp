#include "convert/precision/half_kernels.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include <gtest/gtest.h>

#include "base/parallel.h"
#include "convert/precision/half_storage.h"
#include "tensor/casts.h"
#include "tensor/derived.h"

namespace assay::convert {
namespace {

using tensor::Bytes;
using tensor::DType;

// Every exponent and sign, with mantissas around the places where 16-bit formats round; an odd number of them.
std::vector<float> interesting_floats() {
  std::vector<float> floats;
  for (uint32_t high = 0; high < 0x10000; ++high) {
    for (const uint32_t low : {0U, 1U, 0x0FFFU, 0x1000U, 0x1001U, 0x7FFFU, 0x8000U, 0x8001U, 0xFFFFU}) {
      floats.push_back(std::bit_cast<float>(high << 16 | low));
    }
  }
  floats.push_back(1);
  return floats;
}

Bytes bytes_of(std::span<const float> floats) { return std::as_bytes(floats); }

std::vector<uint16_t> narrowed(DType half, std::span<const float> floats, bool clamps = false) {
  std::vector<uint16_t> codes(floats.size());
  narrow_floats(half, bytes_of(floats), clamps, codes);
  return codes;
}

std::vector<uint16_t> stored(DType half, std::span<const float> floats) {
  const std::vector<double> values(floats.begin(), floats.end());
  std::vector<uint16_t> codes(floats.size());
  tensor::store(half, values, 0, std::as_writable_bytes(std::span(codes)));
  return codes;
}

class HalfKernels : public testing::TestWithParam<DType> {};

TEST_P(HalfKernels, RoundAsStoreDoes) {
  const std::vector<float> floats = interesting_floats();
  EXPECT_EQ(narrowed(GetParam(), floats), stored(GetParam(), floats));
}

TEST_P(HalfKernels, TakeAnyAddressAndAnyNumberOfThreads) {
  const std::vector<float> floats = interesting_floats();
  std::vector<std::byte> shifted(floats.size() * sizeof(float) + 1);
  std::memcpy(shifted.data() + 1, floats.data(), floats.size() * sizeof(float));
  std::vector<uint16_t> codes(floats.size());
  set_thread_count(1);
  narrow_floats(GetParam(), Bytes(shifted).subspan(1), false, codes);
  const HalfSurvey alone = survey_floats(GetParam(), Bytes(shifted).subspan(1));
  set_thread_count(3);
  EXPECT_EQ(codes, narrowed(GetParam(), floats));
  EXPECT_EQ(alone, survey_floats(GetParam(), bytes_of(floats)));
  set_thread_count(0);
}

// What the survey counts is what conversion does.
TEST_P(HalfKernels, SurveyCountsWhatIsLost) {
  const std::vector<float> floats = interesting_floats();
  const std::vector<uint16_t> codes = stored(GetParam(), floats);
  std::vector<double> back(codes.size());
  tensor::load(GetParam(), std::as_bytes(std::span(codes)), 0, back);
  HalfSurvey expected;
  for (size_t i = 0; i < floats.size(); ++i) {
    if (!std::isfinite(floats[i])) continue;
    expected.largest = std::max(expected.largest, std::abs(floats[i]));
    expected.overflows += std::isinf(back[i]) ? 1 : 0;
    expected.flushed += floats[i] != 0 && back[i] == 0 ? 1 : 0;
  }
  EXPECT_GT(expected.overflows, 0U);
  EXPECT_GT(expected.flushed, 0U);
  EXPECT_EQ(survey_floats(GetParam(), bytes_of(floats)), expected);
}

TEST_P(HalfKernels, ClampKeepsFiniteNumbersFinite) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float most = std::numeric_limits<float>::max();
  const std::vector<uint16_t> codes = narrowed(GetParam(), std::vector{most, -most, infinity, -infinity, 1.0F}, true);
  std::vector<double> back(codes.size());
  tensor::load(GetParam(), std::as_bytes(std::span(codes)), 0, back);
  const double largest = largest_half(GetParam());
  EXPECT_EQ(back, (std::vector<double>{largest, -largest, infinity, -infinity, 1}));
}

TEST_P(HalfKernels, ClampMakesNothingZeroThatIsNot) {
  const float flushed = largest_flushed_half(GetParam());
  const std::vector<uint16_t> codes = narrowed(GetParam(), std::vector{flushed, -flushed / 2, 0.0F, -0.0F}, true);
  EXPECT_EQ(codes, (std::vector<uint16_t>{1, 0x8001, 0, 0x8000}));
  EXPECT_EQ(narrowed(GetParam(), std::vector{flushed}), std::vector<uint16_t>{0});
}

TEST_P(HalfKernels, StorageStreamsWhatItsBytesAre) {
  const std::vector<float> floats(3'000'001, 1.5F);
  const tensor::Tensor half =
      to_half(tensor::make_tensor<float>(DType::float32, {3'000'001}, floats), GetParam(), false);
  std::vector<std::byte> streamed;
  size_t pieces = 0;
  half.storage()->stream([&](Bytes piece) {
    streamed.insert(streamed.end(), piece.begin(), piece.end());
    ++pieces;
  });
  EXPECT_EQ(pieces, 3U);
  ASSERT_EQ(streamed.size(), half.size_bytes());
  EXPECT_TRUE(std::ranges::equal(streamed, half.bytes()));
  const std::vector<uint16_t> expected = stored(GetParam(), floats);
  EXPECT_TRUE(std::ranges::equal(half.bytes(), std::as_bytes(std::span(expected))));
}

TEST_P(HalfKernels, StorageLetsGoOfWhatFloatsWereDerivedFrom) {
  int made = 0;
  const auto fill = [&](std::span<std::byte> bytes) {
    ++made;
    std::ranges::fill(bytes, std::byte{0});
  };
  const tensor::StoragePtr floats = tensor::make_derived(8, fill);
  const tensor::Tensor half = to_half({DType::float32, {2}, floats}, GetParam(), false);
  EXPECT_EQ(half.bytes().size(), 4U);
  EXPECT_EQ(made, 1);
  EXPECT_EQ(floats->bytes().size(), 8U);
  EXPECT_EQ(made, 2);
}

TEST_P(HalfKernels, FillStaysAFill) {
  const float value = 3;
  std::vector<std::byte> pattern(sizeof value);
  std::memcpy(pattern.data(), &value, sizeof value);
  const uint64_t count = uint64_t{1} << 40;
  const tensor::Tensor fill(DType::float32, {int64_t{1} << 40}, tensor::make_fill(pattern, count));
  const tensor::Tensor half = to_half(fill, GetParam(), false);
  EXPECT_EQ(half.size_bytes(), 2 * count);
  const std::vector<uint16_t> expected = stored(GetParam(), {&value, 1});
  EXPECT_TRUE(std::ranges::equal(half.storage()->fill_pattern(), std::as_bytes(std::span(expected))));
}

INSTANTIATE_TEST_SUITE_P(Formats, HalfKernels, testing::Values(DType::float16, DType::bfloat16),
                         [](const auto& item) { return tensor::name(item.param); });

}  // namespace
}  // namespace assay::convert
