#include <algorithm>
#include <cmath>

#include "ops/kernels/elements/elementwise.h"
#include "ops/kernels/elements/result_type.h"
#include "ops/kernels/quantization/cast.h"
#include "ops/kernels/quantization/numeric_limits.h"
#include "ops/kernels/quantization/quantization.h"
#include "ops/kernels/quantization/rounding.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

// 0: nothing is asked for.
DType checked_type(const Node& node, const char* attribute) {
  return node.integer(attribute, 0) == 0 ? DType::undefined : result_type(node, attribute);
}

void check_precision(const Node& node) {
  const int64_t number = node.integer("precision", 0);
  const auto is = [&](DType dtype) { return number == static_cast<int64_t>(dtype); };
  if (number == 0 || is(DType::float32) || is(DType::float16) || is(DType::bfloat16) || is(DType::float64)) return;
  fail(ErrorCode::shape, "attribute `precision` cannot be {}", number);
}

void infer_quantize(Infer& node) {
  check_scale(node);
  check_precision(node);
  const DType written = checked_type(node, "output_dtype");
  const DType zero = node.dtype(2);
  if (written != DType::undefined && zero != DType::undefined && written != zero) {
    fail(ErrorCode::shape, "the zero point is {}, attribute `output_dtype` is {}", tensor::name(zero),
         tensor::name(written));
  }
  if (written != DType::undefined) node.set_dtype(0, written);
  if (written == DType::undefined && !node.has(2)) node.set_dtype(0, DType::uint8);
  infer_same_as_first(node);
}

// NaN counts as too low.
struct IntegerRange {
  double lowest;
  double highest;
  double saturated(double x) const { return x > lowest ? std::min(x, highest) : lowest; }
};

// fn(x, scale, zero point) for each element.
template <typename Fn>
void with_scales(Eval& node, Fn fn) {
  const ScalePlaces places(node);
  const std::vector<double> scales = node.load<double>(1);
  const std::vector<double> zeros = node.has(2) ? node.load<double>(2) : std::vector<double>(scales.size(), 0);
  const BroadcastReader x(node.tensor_in(0), node.shape(0));
  store_tiles<double>(node, [&](uint64_t begin, std::span<double> out) {
    x.read(begin, out);
    for (size_t i = 0; i < out.size(); ++i) {
      const uint64_t place = places.of(begin + i);
      out[i] = fn(out[i], scales[place], zeros[place]);
    }
  });
}

// The type whose precision the quotient has: float32, as ONNX's tests and ONNX Runtime have it for every type of scale,
// unless the attribute says otherwise. In wide mode that of double.
DType quotient_type(const Eval& node) {
  const int64_t written = node.integer("precision", 0);
  if (node.is_wide()) return DType::float64;
  return written == 0 ? DType::float32 : static_cast<DType>(written);
}

// The quotient, which ONNX defines to be rounded to a type of its own, is what is rounded to an integer.
void eval_quantize(Eval& node) {
  const DType to = node.out_dtype(0);
  const DType precision = quotient_type(node);
  const auto divide = [=](double x, double scale) {
    if (precision == DType::float32) return static_cast<double>(static_cast<float>(x / scale));
    return rounded_to(precision, x / scale);
  };
  if (tensor::is_floating(to)) {
    const CastRules rules{node.integer("saturate", 1) != 0, "nearest"};
    return with_scales(node, [=](double x, double scale, double zero) {
      return rounded_to(to, ready_to_round(to, divide(x, scale) + zero, rules));
    });
  }
  const IntegerRange range{lowest_of<double>(to), highest_of<double>(to)};
  with_scales(
      node, [=](double x, double scale, double zero) { return range.saturated(round_even(divide(x, scale)) + zero); });
}

void infer_dequantize(Infer& node) {
  check_scale(node);
  const DType written = checked_type(node, "output_dtype");
  const DType scale = node.dtype(1);
  if (written != DType::undefined) node.set_dtype(0, written);
  if (written == DType::undefined && scale != DType::undefined) {
    if (!may_give(node, scale))
      fail(ErrorCode::shape, "a scale of {} needs the attribute `output_dtype`", tensor::name(scale));
    node.set_dtype(0, scale);
  }
  infer_same_as_first(node);
}

void eval_dequantize(Eval& node) {
  with_scales(node, [](double x, double scale, double zero) { return (x - zero) * scale; });
}

}  // namespace

OperatorRows operator_quantization_quantize() {
  static constexpr Operator kRows[] = {
      {.name = "QuantizeLinear",
       .traits = {Nature::quantization, {.scales = {1}, .coding = Coding::encodes}},
       .infer = infer_quantize,
       .eval = eval_quantize},
      {.name = "DequantizeLinear",
       .traits = {Nature::quantization,
                  {.rounding = RoundingClass::arithmetic, .codes = {0}, .scales = {1}, .coding = Coding::decodes}},
       .infer = infer_dequantize,
       .eval = eval_dequantize},
  };
  return kRows;
}

}  // namespace assay::ops
