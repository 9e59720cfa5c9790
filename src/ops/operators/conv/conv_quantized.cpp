#include "ops/kernels/quantization/requantize.h"
#include "ops/kernels/window/convolution.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

constexpr uint32_t kNoInput = UINT32_MAX;

void check_one(const Infer& node, uint32_t input, std::string_view what) {
  if (!node.has(input) || !node.is_ranked(input)) return;
  const Dim count = product(node.dims(input));
  if (count.is_number() && !count.is(1))
    fail(ErrorCode::shape, "{} must have one element, it has {}", what, count.text());
}

// One for all filters, or one for each.
void check_for_filters(const Infer& node, uint32_t input, uint32_t weights, std::string_view what) {
  if (!node.has(input) || !node.is_ranked(input) || !node.is_ranked(weights)) return;
  const Dim count = product(node.dims(input));
  const Dim& filters = node.dims(weights)[0];
  const bool is_known = count.is_number() && filters.is_number();
  if (is_known && !count.is(1) && (!count.equals(filters) || node.rank(input) != 1)) {
    fail(ErrorCode::shape, "{} of shape {} is neither one number nor one for each of {} filters", what,
         text(node.dims(input)), filters.text());
  }
}

struct Inputs {
  uint32_t x_zero, weights, weights_zero;
};

// Sums of products of centered inputs: exact, being far below 2^53.
template <typename Finish>
std::vector<double> centered_convolution(const Eval& node, const Inputs& at, Finish finish) {
  const Convolution what = read_convolution(node, at.weights);
  std::vector<double> input = node.load<double>(0);
  const double zero = node.scalar<double>(at.x_zero, 0);
  for (double& x : input) x -= zero;
  const Tensor& weights = node.tensor_in(at.weights);
  const PerItem weights_zero(node.has(at.weights_zero) ? node.load<double>(at.weights_zero) : std::vector<double>{0});
  const uint64_t filters = what.groups * what.filters;
  std::vector<double> result(node.out_count(0));
  convolve(
      what, input,
      [&](uint64_t filter, uint64_t begin, std::span<double> out) {
        tensor::load(weights.dtype(), weights.bytes(), filter * what.taps() + begin, out);
        for (double& w : out) w -= weights_zero[filter];
      },
      [&](uint64_t row, uint64_t begin, std::span<const double> sums) {
        double* to = result.data() + row * what.out_plane() + begin;
        for (const double sum : sums) *to++ = finish(sum, row % filters);
      });
  return result;
}

void infer_integer(Infer& node) {
  infer_convolution(node, 1, kNoInput);
  check_one(node, 2, "the zero point of the input");
  check_for_filters(node, 3, 1, "the zero point of the weights");
}

void eval_integer(Eval& node) {
  const std::vector<double> sums = centered_convolution(node, {2, 1, 3}, [](double sum, uint64_t) { return sum; });
  node.store(0, std::vector<int64_t>(sums.begin(), sums.end()));
}

void infer_qlinear(Infer& node) {
  infer_convolution(node, 3, 8);
  check_one(node, 1, "the scale of the input");
  check_one(node, 2, "the zero point of the input");
  check_for_filters(node, 4, 3, "the scale of the weights");
  check_for_filters(node, 5, 3, "the zero point of the weights");
  check_one(node, 6, "the scale of the output");
  check_one(node, 7, "the zero point of the output");
}

void eval_qlinear(Eval& node) {
  const double x_scale = node.scalar<double>(1, 1);
  const PerItem w_scale(node.load<double>(4));
  const double y_scale = node.scalar<double>(6, 1);
  const double y_zero = node.scalar<double>(7, 0);
  const PerItem bias(node.has(8) ? node.load<double>(8) : std::vector<double>{0});
  const Quantizer quantize(node.out_dtype(0));
  node.store(0, centered_convolution(node, {2, 3, 5}, [&](double sum, uint64_t filter) {
               return quantize((sum + bias[filter]) * (x_scale * w_scale[filter]) / y_scale, y_zero);
             }));
}

}  // namespace

OperatorRows operator_conv_conv_quantized() {
  static constexpr Operator kRows[] = {
      {.name = "ConvInteger",
       .traits = {Nature::product, {.codes = {0, 1}}},
       .infer = infer_integer,
       .eval = eval_integer,
       .macs = [](const Infer& node) { return convolution_macs(node, 1); }},
      {.name = "QLinearConv",
       .traits = {Nature::product, {.rounding = RoundingClass::coded, .codes = {0, 3}, .scales = {1, 4, 6}}},
       .infer = infer_qlinear,
       .eval = eval_qlinear,
       .macs = [](const Infer& node) { return convolution_macs(node, 3); }},
  };
  return kRows;
}

}  // namespace assay::ops
