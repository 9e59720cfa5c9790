#include "tensor/ordinary_numbers.h"

#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include "tensor/elements.h"

namespace assay::tensor {
namespace {

TEST(OrdinaryNumbers, AreOfEitherSignAndNearOne) {
  for (const DType dtype : {DType::float32, DType::float16, DType::bfloat16}) {
    const Tensor tensor = ordinary_numbers(dtype, {33, 31});
    const std::vector<double> numbers = load_elements<double>(tensor);
    ASSERT_EQ(numbers.size(), 33U * 31);
    double sum = 0;
    for (const double number : numbers) {
      EXPECT_TRUE(std::abs(number) >= 0.5 && std::abs(number) < 1) << number;
      sum += number;
    }
    EXPECT_LT(std::abs(sum), 100);
    EXPECT_GT(std::set<double>(numbers.begin(), numbers.end()).size(), 200U);
    EXPECT_EQ(numbers, load_elements<double>(ordinary_numbers(dtype, {33, 31})));
  }
}

}  // namespace
}  // namespace assay::tensor
