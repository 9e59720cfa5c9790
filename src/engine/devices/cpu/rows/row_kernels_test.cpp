#include "engine/devices/cpu/rows/row_kernels.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace assay::engine::cpu {
namespace {

constexpr size_t kMost = 70;  // elements: no vector, some, and a rest

// Numbers of which some are equal and some none; they begin anywhere, as rows of a tensor do.
std::vector<float> drawn(std::mt19937& random, size_t count) {
  std::vector<float> numbers(count);
  for (float& number : numbers) {
    number = static_cast<float>(static_cast<int>(random() % 9) - 4);
    if (random() % 23 == 0) number = std::numeric_limits<float>::quiet_NaN();
  }
  return numbers;
}

bool are_same(const std::vector<float>& a, const std::vector<float>& b) {
  return std::ranges::equal(a, b, [](float x, float y) { return x == y || (std::isnan(x) && std::isnan(y)); });
}

template <typename Test>
void for_all(Test&& test) {
  std::mt19937 random(7);
  for (const RowKernels* const kernels : all_row_kernels()) {
    for (size_t count = 0; count <= kMost; ++count) {
      for (size_t first = 0; first < 3; ++first) {
        SCOPED_TRACE(testing::Message() << kernels->name << " " << count << " from " << first);
        test(*kernels, random, first, count);
      }
    }
  }
}

TEST(RowKernels, whole_numbers_as_bytes) {
  for_all([](const RowKernels& kernels, std::mt19937& random, size_t first, size_t count) {
    std::vector<float> x(first + count);
    std::vector<uint8_t> out(first + count + 1, 99), expected = out;
    for (size_t i = first; i < first + count; ++i) {
      const int number = static_cast<int>(random() % 384) - 128;
      x[i] = static_cast<float>(number);
      expected[i] = static_cast<uint8_t>(number);
    }
    kernels.narrow_byte(x.data() + first, out.data() + first, count);
    EXPECT_EQ(out, expected);
  });
}

TEST(RowKernels, greatest_elements_and_where_they_are) {
  for_all([](const RowKernels& kernels, std::mt19937& random, size_t first, size_t count) {
    for (const bool takes_last : {false, true}) {
      for (const float sign : {1.0F, -1.0F}) {
        std::vector<float> kept = drawn(random, first + count);
        const std::vector<float> x = drawn(random, first + count);
        std::vector<int32_t> places(first + count, 3);
        std::vector<float> expected = kept;
        std::vector<int32_t> expected_places = places;
        for (size_t i = first; i < first + count; ++i) {
          const float given = x[i] * sign;
          const bool is_equal = given == kept[i] || (std::isnan(given) && std::isnan(kept[i]));
          const bool is_greater = given > kept[i] || (std::isnan(given) && !std::isnan(kept[i]));
          if (!is_greater && !(takes_last && is_equal)) continue;
          expected[i] = given;
          expected_places[i] = 8;
        }
        kernels.keep_places(x.data() + first, sign, 8, takes_last, kept.data() + first, places.data() + first, count);
        EXPECT_TRUE(are_same(kept, expected));
        EXPECT_EQ(places, expected_places);
      }
    }
    std::vector<float> kept = drawn(random, first + count);
    const std::vector<float> x = drawn(random, first + count);
    std::vector<float> expected = kept;
    for (size_t i = first; i < first + count; ++i) {
      if (x[i] > kept[i] || std::isnan(x[i])) expected[i] = x[i];
    }
    kernels.maximum(kept.data() + first, x.data() + first, count);
    EXPECT_TRUE(are_same(kept, expected));
  });
}

TEST(RowKernels, sums_of_whole_numbers_are_exact) {
  for_all([](const RowKernels& kernels, std::mt19937& random, size_t first, size_t count) {
    std::vector<float> x = drawn(random, first + count);
    for (float& number : x) number = std::isnan(number) ? 1 : number;
    double sum = 0, squares = 0;
    for (size_t i = first; i < first + count; ++i) {
      sum += x[i];
      squares += (double{x[i]} - 2) * (double{x[i]} - 2);
    }
    EXPECT_EQ(kernels.sum(x.data() + first, count), sum);
    EXPECT_EQ(kernels.sum_of_squares(x.data() + first, 2, count), squares);
    std::vector<float> sums(first + count, 1);
    std::vector<float> expected = sums;
    for (size_t i = first; i < first + count; ++i) expected[i] += x[i] + x[i] * x[i];
    kernels.add(sums.data() + first, x.data() + first, 1, count);
    kernels.add_squares(sums.data() + first, x.data() + first, nullptr, 1, count);
    EXPECT_EQ(sums, expected);
    std::vector<float> scaled(first + count, 0);
    kernels.scale(x.data() + first, -3, scaled.data() + first, count);
    for (size_t i = first; i < first + count; ++i) EXPECT_EQ(scaled[i], -3 * x[i]);
  });
}

TEST(RowKernels, sums_of_many_rows_are_those_of_each) {
  for (const RowKernels* const kernels : all_row_kernels()) {
    for (const size_t count : {1U, 7U, 16U, 37U, 64U, 83U}) {
      constexpr size_t kRows = 5;
      std::mt19937 random(static_cast<uint32_t>(count));
      std::vector<float> x(kRows * count), mean(count), sums(count, 2), squares(count, 3), out(x.size());
      for (float& number : x) number = static_cast<float>(random() % 33) - 16;
      for (float& number : mean) number = static_cast<float>(random() % 5);
      std::vector<float> expected_sums = sums, expected_squares = squares, expected_out(x.size());
      for (size_t i = 0; i < x.size(); ++i) {
        const float centered = x[i] - mean[i % count];
        expected_sums[i % count] += x[i];
        expected_squares[i % count] += centered * centered;
        expected_out[i] = centered * mean[i % count] + 2;
      }
      kernels->add(sums.data(), x.data(), kRows, count);
      kernels->add_squares(squares.data(), x.data(), mean.data(), kRows, count);
      const std::vector<float> shift(count, 2);
      kernels->move_and_scale_each(x.data(), mean.data(), mean.data(), shift.data(), out.data(), kRows, count);
      EXPECT_EQ(sums, expected_sums) << kernels->name << " " << count;
      EXPECT_EQ(squares, expected_squares) << kernels->name << " " << count;
      EXPECT_EQ(out, expected_out) << kernels->name << " " << count;
    }
  }
}

TEST(RowKernels, sixteen_bits_and_back) {
  for_all([](const RowKernels& kernels, std::mt19937& random, size_t first, size_t count) {
    std::vector<uint16_t> halves(first + count), again(first + count);
    std::vector<float> widened(first + count);
    for (uint16_t& half : halves) half = static_cast<uint16_t>(random() & 0xBBFF);  // finite in both types
    kernels.widen(halves.data() + first, widened.data() + first, count);
    for (size_t i = first; i < first + count; ++i)
      EXPECT_EQ(std::bit_cast<uint32_t>(widened[i]), uint32_t{halves[i]} << 16);
    kernels.narrow(widened.data() + first, again.data() + first, count);
    EXPECT_TRUE(std::equal(halves.begin() + static_cast<ptrdiff_t>(first), halves.end(),
                           again.begin() + static_cast<ptrdiff_t>(first)));
    kernels.widen_half(halves.data() + first, widened.data() + first, count);
    kernels.narrow_half(widened.data() + first, again.data() + first, count);
    EXPECT_TRUE(std::equal(halves.begin() + static_cast<ptrdiff_t>(first), halves.end(),
                           again.begin() + static_cast<ptrdiff_t>(first)));
  });
}

}  // namespace
}  // namespace assay::engine::cpu
