#include "calibrate/magnitudes.h"

#include <cmath>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

namespace assay::calibrate {
namespace {

float largest(const std::vector<float>& numbers) { return largest_finite(std::as_bytes(std::span(numbers))); }

TEST(Magnitudes, largest_is_that_of_finite_numbers_of_either_sign) {
  EXPECT_EQ(largest({}), 0.F);
  EXPECT_EQ(largest({1, -3, 2}), 3.F);
  EXPECT_EQ(largest({NAN, -INFINITY, 1e-40F, -0.F}), 1e-40F);
  EXPECT_EQ(largest({INFINITY, NAN}), 0.F);
}

TEST(Magnitudes, every_place_counts) {
  for (const size_t count : {1, 1023, 1024, 1025, 200'000}) {
    for (const size_t at : {size_t{0}, count / 2, count - 1}) {
      std::vector<float> numbers(count, 0.5F);
      numbers[at] = -7;
      EXPECT_EQ(largest(numbers), 7.F) << count << " " << at;
    }
  }
}

TEST(Magnitudes, numbers_may_be_at_any_address) {
  const std::vector<float> numbers = {1, -9, 2};
  std::vector<std::byte> bytes(numbers.size() * sizeof(float) + 1);
  std::memcpy(bytes.data() + 1, numbers.data(), bytes.size() - 1);
  EXPECT_EQ(largest_finite(tensor::Bytes(bytes).subspan(1)), 9.F);
}

}  // namespace
}  // namespace assay::calibrate
