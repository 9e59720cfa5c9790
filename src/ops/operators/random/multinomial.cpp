#include <algorithm>
#include <cmath>

#include "ops/kernels/elements/random.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

void infer_multinomial(Infer& node) {
  const int64_t number = node.integer("dtype");
  const auto dtype = static_cast<DType>(number == 7 ? number : 6);
  if (number != 6 && number != 7) fail(ErrorCode::shape, "attribute `dtype` must be 6 or 7, it is {}", number);
  const int64_t samples = node.integer("sample_size");
  if (samples < 0) fail(ErrorCode::shape, "attribute `sample_size` must not be negative, it is {}", samples);
  node.set_dtype(0, dtype);
  node.require_rank(0, 2);
  if (!node.is_ranked(0)) return node.set_dims(0, {Dim(), samples});
  if (node.dims(0)[1].is(0) && samples != 0) fail(ErrorCode::shape, "there are no classes to draw from");
  node.set_dims(0, {node.dims(0)[0], samples});
}

// Sums of the probabilities of the classes up to each, those given as logarithms and not normalised.
std::vector<double> running_sums(std::span<const double> logs) {
  const double top = *std::ranges::max_element(logs);
  std::vector<double> sums;
  double sum = 0;
  for (const double log : logs) sums.push_back(sum += std::exp(log - top));
  return sums;
}

void eval_multinomial(Eval& node) {
  const std::vector<double> data = node.load<double>(0);
  const Shape shape = node.out_shape(0);
  const auto classes = static_cast<size_t>(node.shape(0)[1]);
  const auto samples = static_cast<size_t>(shape[1]);
  NumpyRandom random = random_of(node);
  std::vector<int64_t> drawn;
  for (size_t row = 0; samples != 0 && row < static_cast<size_t>(shape[0]); ++row) {
    const std::vector<double> sums = running_sums(std::span(data).subspan(row * classes, classes));
    for (size_t i = 0; i < samples; ++i) {
      const auto found = std::ranges::upper_bound(sums, random.uniform() * sums.back());
      drawn.push_back(std::min<int64_t>(found - sums.begin(), static_cast<int64_t>(classes) - 1));
    }
  }
  node.store(0, std::move(drawn));
}

}  // namespace

OperatorRows operator_random_multinomial() {
  static constexpr Operator kRows[] = {
      {.name = "Multinomial",
       .traits = {Nature::generator, {.rounding = RoundingClass::random, .typed_by = "dtype"}},
       .infer = infer_multinomial,
       .eval = eval_multinomial,
       .is_random = true},
  };
  return kRows;
}

}  // namespace assay::ops
