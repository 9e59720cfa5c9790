#include "convert/quantize/fitted_codes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>

#include "base/parallel.h"
#include "convert/quantize/quantizer.h"

namespace assay::convert {
namespace {

using calibrate::ElementMeans;
using calibrate::Moments;
using tensor::Tensor;

// A matrix by the place in a sum and the column.
struct Sums {
  uint64_t length;
  uint64_t columns;
  bool is_transposed;

  Sums(const tensor::Shape& shape, uint32_t along)
      : length(static_cast<uint64_t>(shape[along])),
        columns(static_cast<uint64_t>(shape[1 - along])),
        is_transposed(along == 1) {}
  uint64_t at(uint64_t place, uint64_t column) const {
    return is_transposed ? column * length + place : place * columns + column;
  }
};

std::vector<float> numbers_of(const Tensor& floats) {
  std::vector<float> numbers(floats.count());
  for (uint64_t i = 0; i < numbers.size(); ++i) numbers[i] = number_at(floats.bytes(), i);
  return numbers;
}

constexpr uint64_t kLanes = 8;
constexpr uint64_t kTogether = 16;  // rows or columns that a pass over a matrix serves

double dot(const double* a, const double* b, uint64_t count) {
  std::array<double, kLanes> sums = {};
  uint64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (uint64_t lane = 0; lane < kLanes; ++lane) sums[lane] += a[i + lane] * b[i + lane];
  }
  for (; i < count; ++i) sums[0] += a[i] * b[i];
  double sum = 0;
  for (const double lane : sums) sum += lane;
  return sum;
}

// numbers -= factor * row
void subtract(float* numbers, const float* row, float factor, uint64_t count) {
  uint64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (uint64_t lane = 0; lane < kLanes; ++lane) numbers[i + lane] -= factor * row[i + lane];
  }
  for (; i < count; ++i) numbers[i] -= factor * row[i];
}

// The lower factor of a symmetric positive matrix, in its place, some columns at a time.
void factorize(std::vector<double>& matrix, uint64_t size) {
  constexpr uint64_t kGrain = 32;
  constexpr double kLeast = 1e-300;
  const auto row = [&](uint64_t i) { return matrix.data() + i * size; };
  for (uint64_t begin = 0; begin < size; begin += kTogether) {
    const uint64_t end = std::min(begin + kTogether, size);
    parallel_for(size - begin, kGrain, [&](uint64_t first, uint64_t last) {
      for (uint64_t i = begin + first; i < begin + last; ++i) {
        for (uint64_t j = begin; j < std::min(end, i + 1); ++j) row(i)[j] -= dot(row(i), row(j), begin);
      }
    });
    for (uint64_t j = begin; j < end; ++j) {
      const double* const known = row(j) + begin;
      row(j)[j] = std::sqrt(std::max(row(j)[j] - dot(known, known, j - begin), kLeast));
      for (uint64_t i = j + 1; i < size; ++i)
        row(i)[j] = (row(i)[j] - dot(row(i) + begin, known, j - begin)) / row(j)[j];
    }
  }
}

// Moments in reversed order, damped so that they have an inverse.
std::vector<double> reversed_moments(const Moments& moments) {
  constexpr double kDamping = 0.01;
  const uint64_t size = moments.size;
  double trace = 0;
  for (uint64_t i = 0; i < size; ++i) trace += moments.products[i * size + i];
  const double damping = trace > 0 ? kDamping * trace / static_cast<double>(size) : 1;
  std::vector<double> reversed(size * size);
  for (uint64_t i = 0; i < size; ++i) {
    for (uint64_t j = 0; j < size; ++j)
      reversed[i * size + j] = moments.products[(size - 1 - i) * size + (size - 1 - j)] + (i == j ? damping : 0);
  }
  return reversed;
}

// The upper factor U of the inverse of the moments, U'U: the reversed inverse of the lower factor of the reversed
// moments.
std::vector<float> inverse_factor(const Moments& moments) {
  const uint64_t size = moments.size;
  std::vector<double> lower = reversed_moments(moments);
  factorize(lower, size);
  std::vector<float> upper(size * size);
  const uint64_t groups = (size + kTogether - 1) / kTogether;
  parallel_for(groups, 1, [&](uint64_t begin, uint64_t end) {
    std::vector<double> columns(kTogether * size);  // of the inverse of the lower factor
    for (uint64_t group = begin; group < end; ++group) {
      const uint64_t first = group * kTogether;
      const uint64_t last = std::min(first + kTogether, size);
      std::ranges::fill(columns, 0.0);
      for (uint64_t i = first; i < size; ++i) {
        const double* const row = lower.data() + i * size;
        for (uint64_t c = first; c < std::min(last, i + 1); ++c) {
          double* const column = columns.data() + (c - first) * size;
          column[i] = ((i == c ? 1 : 0) - dot(row + c, column + c, i - c)) / row[i];
          upper[(size - 1 - i) * size + (size - 1 - c)] = static_cast<float>(column[i]);
        }
      }
    }
  });
  return upper;
}

// Places in the order of scales: blocks along the sum, or whole columns.
uint64_t scale_at(const Sums& sums, uint64_t blocks, uint64_t block, uint64_t column) {
  if (blocks == 0) return column;
  return sums.is_transposed ? column * blocks + block : block * sums.columns + column;
}

class Compensation {
 public:
  Compensation(const Tensor& floats, const Blocks& wanted, uint32_t along, const Moments& moments)
      : wanted_(wanted), sums_(floats.shape(), along), numbers_(numbers_of(floats)), upper_(inverse_factor(moments)) {
    if (wanted.length > 0) blocks_ = (sums_.length + wanted.length - 1) / wanted.length;
    codes_.shape = wanted.length > 0 ? floats.shape() : tensor::Shape{static_cast<int64_t>(sums_.columns)};
    if (wanted.length > 0) codes_.shape[along] = static_cast<int64_t>(blocks_);
    const uint64_t scales = sums_.columns * std::max<uint64_t>(blocks_, 1);
    codes_.codes.resize(numbers_.size());
    codes_.scales.resize(scales);
    codes_.zero_points.resize(scales);
    codes_.of_tensor = scale_of_tensor(wanted.type, largest_number(floats));
    rounded_.resize(numbers_.size());
    double least = HUGE_VAL;
    for (uint64_t place = 0; place < sums_.length; ++place) least = std::min(least, double{diagonal(place)});
    for (uint64_t place = 0; place < sums_.length; ++place) {
      const double share = least / double{diagonal(place)};
      left_of_squares_.push_back(static_cast<float>(share * share));
    }
  }

  BlockCodes run() {
    const uint64_t groups = (sums_.columns + kTogether - 1) / kTogether;
    parallel_for(groups, 1, [&](uint64_t begin, uint64_t end) {
      for (uint64_t group = begin; group < end; ++group)
        code_columns(group * kTogether, std::min((group + 1) * kTogether, sums_.columns));
    });
    codes_.error = weight_error(numbers_, rounded_);
    return std::move(codes_);
  }

 private:
  float diagonal(uint64_t place) const { return upper_[place * sums_.length + place]; }

  void code_columns(uint64_t first, uint64_t last) {
    std::vector<std::vector<float>> left(last - first, std::vector<float>(sums_.length));
    for (uint64_t column = first; column < last; ++column) {
      for (uint64_t place = 0; place < sums_.length; ++place)
        left[column - first][place] = numbers_[sums_.at(place, column)];
    }
    const uint64_t length = wanted_.length > 0 ? wanted_.length : sums_.length;
    std::vector<BlockCoding> codings(last - first);
    for (uint64_t place = 0; place < sums_.length; ++place) {
      for (uint64_t column = first; column < last; ++column) {
        std::vector<float>& rest = left[column - first];
        if (place % length == 0) codings[column - first] = begin_block(place, length, column, rest);
        code_number(place, column, codings[column - first], rest);
      }
    }
  }

  BlockCoding begin_block(uint64_t begin, uint64_t length, uint64_t column, const std::vector<float>& left) {
    const uint64_t count = std::min(length, sums_.length - begin);
    const BlockCoding coding = block_coding(std::span(left).subspan(begin, count), wanted_, codes_.of_tensor,
                                            Factors{{}, left_of_squares_}.part(begin, count));
    const uint64_t scale = scale_at(sums_, blocks_, begin / length, column);
    codes_.scales[scale] = wanted_.type == WeightType::integer ? coding.integers.scale : coding.scale;
    codes_.zero_points[scale] = coding.integers.zero_point;
    return coding;
  }

  void code_number(uint64_t place, uint64_t column, const BlockCoding& coding, std::vector<float>& left) {
    const int16_t code = coding.code(left[place]);
    const uint64_t at = sums_.at(place, column);
    codes_.codes[at] = code;
    rounded_[at] = coding.value(code);
    const float* const row = upper_.data() + place * sums_.length;
    const float error = (left[place] - rounded_[at]) / row[place];
    subtract(left.data() + place + 1, row + place + 1, error, sums_.length - place - 1);
  }

  const Blocks& wanted_;
  Sums sums_;
  uint64_t blocks_ = 0;
  std::vector<float> numbers_;
  std::vector<float> upper_;
  std::vector<float>
      left_of_squares_;  // of errors by place, when those behind have made up for them; the greatest is 1
  std::vector<float> rounded_;
  BlockCodes codes_;
};

// The error of a layer's results, at some of its columns: the moments' form of the differences.
double result_error(const Sums& sums, const std::vector<float>& numbers, const std::vector<float>& rounded,
                    const Moments& moments) {
  constexpr uint64_t kMostColumns = 64;
  const uint64_t count = std::min(kMostColumns, sums.columns);
  const auto error_of = [&](uint64_t begin, uint64_t end) {
    double sum = 0;
    std::vector<double> difference(sums.length);
    for (uint64_t i = begin; i < end; ++i) {
      const uint64_t column = i * sums.columns / count;
      for (uint64_t place = 0; place < sums.length; ++place)
        difference[place] = double{rounded[sums.at(place, column)]} - double{numbers[sums.at(place, column)]};
      for (uint64_t place = 0; place < sums.length; ++place) {
        const double* const row = moments.products.data() + place * sums.length;
        sum += difference[place] * dot(row, difference.data(), sums.length);
      }
    }
    return sum;
  };
  return parallel_reduce(count, 1, 0.0, error_of, std::plus<>());
}

// Factors of the rows for one power, around 1.
std::vector<float> row_factors(const ElementMeans& input, double power) {
  const double most_square = std::max(std::ranges::max(input.squares), std::numeric_limits<double>::min());
  std::vector<float> factors;
  for (const double square : input.squares)
    factors.push_back(static_cast<float>(std::max(std::pow(std::sqrt(square / most_square), power), 1e-4)));
  const auto [least, most] = std::ranges::minmax(factors);
  const float middle = std::sqrt(least * most);
  for (float& factor : factors) factor /= middle;
  return factors;
}

// Means and variances of the input where it is divided by factors of the rows, in a unit of which floats hold them.
struct ScaledInput {
  std::vector<float> means;
  std::vector<float> variances;

  ScaledInput(const ElementMeans& input, const std::vector<float>& factors) {
    const double unit = std::sqrt(std::ranges::max(input.squares));
    for (size_t i = 0; i < factors.size(); ++i) {
      const double factor = double{factors[i]} * (unit > 0 ? unit : 1);
      const double mean = input.means[i];
      means.push_back(static_cast<float>(mean / factor));
      variances.push_back(static_cast<float>(std::max(input.squares[i] - mean * mean, 0.0) / (factor * factor)));
    }
  }
};

// Multiplies the row of each place, or divides it.
void scale_rows(const Sums& sums, const std::vector<float>& factors, bool divides, std::vector<float>& numbers) {
  for (uint64_t place = 0; place < sums.length; ++place) {
    const float factor = divides ? 1 / factors[place] : factors[place];
    for (uint64_t column = 0; column < sums.columns; ++column) numbers[sums.at(place, column)] *= factor;
  }
}

Tensor inverse_of(std::vector<float> factors, tensor::DType dtype) {
  for (float& factor : factors) factor = 1 / factor;
  return tensor::make_tensor<float>(dtype, {static_cast<int64_t>(factors.size())}, factors);
}

}  // namespace

FittedCodes compensated_codes(const Tensor& floats, const Blocks& blocks, uint32_t along, const Moments& moments) {
  return {Compensation(floats, blocks, along, moments).run(), {}};
}

FittedCodes scaled_codes(const Tensor& floats, const Blocks& blocks, uint32_t along, const Moments& moments) {
  constexpr int kPowers = 10;
  const Sums sums(floats.shape(), along);
  const std::vector<float> numbers = numbers_of(floats);
  const ElementMeans input = element_means(moments);
  FittedCodes best;
  double least = HUGE_VAL;
  for (int step = 0; step <= kPowers; ++step) {
    const std::vector<float> factors = row_factors(input, static_cast<double>(step) / kPowers);
    const ScaledInput scaled_input(input, factors);
    std::vector<float> scaled = numbers;
    scale_rows(sums, factors, false, scaled);
    BlockCodes codes = block_codes(tensor::make_tensor<float>(floats.dtype(), floats.shape(), scaled), blocks,
                                   {scaled_input.means, scaled_input.variances});
    std::vector<float> rounded = decoded(codes, floats.shape(), blocks);
    scale_rows(sums, factors, true, rounded);
    const double error = result_error(sums, numbers, rounded, moments);
    if (!(error < least)) continue;
    least = error;
    codes.error = weight_error(numbers, rounded);
    best = {std::move(codes), step == 0 ? Tensor() : inverse_of(factors, floats.dtype())};
  }
  return best;
}

}  // namespace assay::convert
