#include "convert/quantize/scale_search.h"

#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace assay::convert {
namespace {

constexpr size_t kCount = 32;
constexpr CodingChoice kChoice = {.may_turn = true};

struct Block {
  std::vector<float> numbers;
  std::vector<float> means;
  std::vector<float> variances;

  Block(uint32_t seed, float mean) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    for (size_t i = 0; i < kCount; ++i) {
      numbers.push_back(normal(random));
      means.push_back(mean + mean / 3 * normal(random));
      variances.push_back(std::exp(1.5F * normal(random)));
    }
  }
  Factors factors() const { return {means, variances}; }
  Coding found(const Factors& by) const { return best_coding(numbers, -8, 7, kChoice, by); }
  // The mean square error of the sum of the products with factors of these means and variances.
  double error(const Coding& coding) const {
    double sum = 0;
    double mean = 0;
    for (size_t i = 0; i < kCount; ++i) {
      const double difference = double{coding.scale} * coding.code(numbers[i]) - double{numbers[i]};
      sum += difference * difference * double{variances[i]};
      mean += difference * double{means[i]};
    }
    return sum + mean * mean;
  }
  double least_error() const {
    constexpr int kSteps = 20000;
    double least = HUGE_VAL;
    for (int step = -kSteps; step <= kSteps; ++step) {
      const float scale = static_cast<float>(step) / kSteps;
      if (scale != 0) least = std::min(least, error({scale, 0, -8, 7}));
    }
    return least;
  }
};

struct Errors {
  double found = 0;
  double found_without_factors = 0;
  double least = 0;

  explicit Errors(float mean) {
    for (uint32_t seed = 0; seed < 40; ++seed) {
      const Block block(seed, mean);
      found += block.error(block.found(block.factors()));
      found_without_factors += block.error(block.found({}));
      least += block.least_error();
    }
  }
};

TEST(BestCoding, LosesTheLeastOfTheSumOfProducts) {
  for (const float mean : {0.0F, 1.5F}) {
    const Errors errors(mean);
    EXPECT_LT(errors.found, 1.05 * errors.least);
    EXPECT_LT(errors.found, 0.9 * errors.found_without_factors);
  }
}

}  // namespace
}  // namespace assay::convert
