#include <algorithm>
#include <cmath>

#include "ops/kernels/attention/scaled_scores.h"
#include "ops/kernels/elements/broadcast.h"
#include "ops/kernels/elements/elementwise.h"
#include "ops/kernels/elements/sigmoid.h"
#include "ops/kernels/movement/movement.h"
#include "ops/kernels/quantization/numeric_limits.h"
#include "ops/kernels/quantization/quantization.h"
#include "ops/kernels/quantization/rounding.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

// Scale and zero point of a whole tensor.
struct Quantum {
  double scale = 1;
  double zero = 0;

  double real(double x) const { return (x - zero) * scale; }
};

void check_quantum(const Infer& node, uint32_t scale) {
  for (const uint32_t input : {scale, scale + 1}) {
    if (!node.is_ranked(input) || !product(node.dims(input)).is_number() || product(node.dims(input)).is(1)) continue;
    fail(ErrorCode::shape, "input {} must be one element, its shape is {}", input, text(node.dims(input)));
  }
}

Quantum quantum_at(const Eval& node, uint32_t scale) {
  return {node.scalar<double>(scale, 1), node.scalar<double>(scale + 1, 0)};
}

// The nearest number of an integer type, held within its range.
class Requantizer {
 public:
  Requantizer(const Eval& node, const Quantum& to)
      : to_(to), least_(lowest_of<double>(node.out_dtype(0))), largest_(highest_of<double>(node.out_dtype(0))) {}

  double operator()(double x) const {
    const double place = round_even(x / to_.scale) + to_.zero;
    return place > least_ ? std::min(place, largest_) : least_;
  }

 private:
  Quantum to_;
  double least_;
  double largest_;
};

void infer_unary(Infer& node) {
  check_quantum(node, 1);
  check_quantum(node, 3);
  infer_same_as_first(node);
}

template <typename Fn>
void eval_unary(Eval& node, Fn fn) {
  const Quantum from = quantum_at(node, 1);
  const Requantizer requantize(node, quantum_at(node, 3));
  elementwise<double>(node, [&](double x) { return requantize(fn(from.real(x))); });
}

void eval_sigmoid(Eval& node) {
  eval_unary(node, [](double x) { return sigmoid(x); });
}

void eval_leaky_relu(Eval& node) {
  const double alpha = node.floating("alpha");
  eval_unary(node, [=](double x) { return x < 0 ? alpha * x : x; });
}

void infer_binary(Infer& node) {
  for (const uint32_t scale : {1U, 4U, 6U}) check_quantum(node, scale);
  if (node.is_ranked(0) && node.is_ranked(3)) node.set_dims(0, broadcast(node.dims(0), node.dims(3)));
}

template <typename Fn>
void eval_binary(Eval& node, Fn fn) {
  const Quantum a = quantum_at(node, 1);
  const Quantum b = quantum_at(node, 4);
  const Requantizer requantize(node, quantum_at(node, 6));
  const BroadcastReader left(node.tensor_in(0), node.out_shape(0));
  const BroadcastReader right(node.tensor_in(3), node.out_shape(0));
  store_tiles<double>(node, [&](uint64_t begin, std::span<double> out) {
    std::array<double, kTile> other;
    left.read(begin, out);
    right.read(begin, std::span(other).first(out.size()));
    for (size_t i = 0; i < out.size(); ++i) out[i] = requantize(fn(a.real(out[i]), b.real(other[i])));
  });
}

void eval_add(Eval& node) {
  eval_binary(node, [](double a, double b) { return a + b; });
}

void eval_mul(Eval& node) {
  eval_binary(node, [](double a, double b) { return a * b; });
}

void infer_where(Infer& node) {
  for (const uint32_t scale : {2U, 5U, 7U}) check_quantum(node, scale);
  const bool are_ranked = node.is_ranked(0) && node.is_ranked(1) && node.is_ranked(4);
  if (are_ranked) node.set_dims(0, broadcast(broadcast(node.dims(0), node.dims(1)), node.dims(4)));
}

void eval_where(Eval& node) {
  const Shape shape = node.out_shape(0);
  const Quantum x = quantum_at(node, 2);
  const Quantum y = quantum_at(node, 5);
  const Requantizer requantize(node, quantum_at(node, 7));
  std::vector<double> chosen(node.out_count(0));
  std::vector<double> yes(chosen.size());
  std::vector<double> no(chosen.size());
  BroadcastReader(node.tensor_in(0), shape).read(0, std::span(chosen));
  BroadcastReader(node.tensor_in(1), shape).read(0, std::span(yes));
  BroadcastReader(node.tensor_in(4), shape).read(0, std::span(no));
  for (size_t i = 0; i < chosen.size(); ++i) chosen[i] = requantize(chosen[i] != 0 ? x.real(yes[i]) : y.real(no[i]));
  node.store(0, std::move(chosen));
}

void infer_softmax(Infer& node) {
  if (node.is_ranked(0)) normalize_axis(node.integer("axis"), std::max<int64_t>(node.rank(0), 1));
  infer_unary(node);
}

// Before version 13 of ai.onnx, which the attribute `opset` says, all axes from `axis` on are one line.
void eval_softmax(Eval& node) {
  const int64_t axis = normalize_axis(node.integer("axis"), std::max<int64_t>(node.rank(0), 1));
  AxisView view = view_axis(node.shape(0), axis);
  if (node.integer("opset") < 13) {
    view.length *= view.inner;
    view.inner = 1;
  }
  const Quantum from = quantum_at(node, 1);
  const Requantizer requantize(node, quantum_at(node, 3));
  std::vector<double> data = node.load<double>(0);
  std::vector<double> line(view.length);
  for (uint64_t at = 0; at < view.outer * view.inner && !data.empty(); ++at) {
    const auto place = [&](uint64_t k) { return view.place(at / view.inner, k, at % view.inner); };
    for (uint64_t k = 0; k < view.length; ++k) line[k] = from.real(data[place(k)]);
    softmax_row(line, false);
    for (uint64_t k = 0; k < view.length; ++k) data[place(k)] = requantize(line[k]);
  }
  node.store(0, std::move(data));
}

// Behind scale and zero point of the result come a tensor, its scale and its zero point, again and again.
void infer_concat(Infer& node) {
  check_quantum(node, 0);
  if (node.input_count() % 3 != 2 || node.input_count() < 5) {
    fail(ErrorCode::shape, "{} inputs are given: tensors, scales and zero points do not go together",
         node.input_count());
  }
  std::optional<Dims> dims;
  for (uint32_t i = 2; i < node.input_count(); i += 3) {
    check_quantum(node, i + 1);
    if (!node.is_ranked(i)) return;
    if (!dims) {
      dims = node.dims(i);
      continue;
    }
    node.require_rank(i, static_cast<int64_t>(dims->size()));
    const auto axis = static_cast<size_t>(normalize_axis(node.integer("axis"), node.rank(i)));
    for (size_t a = 0; a < dims->size(); ++a) {
      const Dim& dim = node.dims(i)[a];
      (*dims)[a] = a == axis ? (*dims)[a] + dim : unify((*dims)[a], dim, "dims besides the concatenated axis");
    }
  }
  normalize_axis(node.integer("axis"), static_cast<int64_t>(dims->size()));
  node.set_dims(0, std::move(*dims));
}

void eval_concat(Eval& node) {
  const Shape shape = node.out_shape(0);
  const int64_t axis = normalize_axis(node.integer("axis"), static_cast<int64_t>(shape.size()));
  const AxisView whole = view_axis(shape, axis);
  const Requantizer requantize(node, quantum_at(node, 0));
  std::vector<double> result(node.out_count(0));
  uint64_t at = 0;
  for (uint32_t i = 2; i < node.input_count(); i += 3) {
    const Quantum from = quantum_at(node, i + 1);
    const std::vector<double> part = node.load<double>(i);
    const AxisView view = view_axis(node.shape(i), axis);
    for (uint64_t k = 0; k < part.size(); ++k) {
      const uint64_t run = view.length * view.inner;
      result[(k / run * whole.length + at) * whole.inner + k % run] = requantize(from.real(part[k]));
    }
    at += view.length;
  }
  node.store(0, std::move(result));
}

// The axes that a mean goes over: given, or all but batch and channels.
std::vector<int64_t> mean_axes(const Node& node, int64_t rank) {
  if (node.op() == "QLinearReduceMean") return normalize_axes(node.integers("axes"), rank);
  std::vector<int64_t> axes;
  const int64_t shift = node.integer("channels_last") != 0 ? 1 : 2;
  for (int64_t a = 0; a < rank - 2; ++a) axes.push_back(a + shift);
  return axes;
}

bool goes(const std::vector<int64_t>& axes, size_t axis) {
  return axes.empty() || std::ranges::find(axes, static_cast<int64_t>(axis)) != axes.end();
}

void infer_mean(Infer& node) {
  check_quantum(node, 1);
  check_quantum(node, 3);
  if (!node.is_ranked(0)) return;
  const bool is_pool = node.op() != "QLinearReduceMean";
  if (is_pool && node.rank(0) < 3)
    fail(ErrorCode::shape, "the input must have a rank of 3 or more, its shape is {}", text(node.dims(0)));
  const std::vector<int64_t> axes = mean_axes(node, node.rank(0));
  Dims dims;
  for (size_t a = 0; a < node.dims(0).size(); ++a) {
    if (!goes(axes, a))
      dims.push_back(node.dims(0)[a]);
    else if (is_pool || node.integer("keepdims") != 0)
      dims.emplace_back(1);
  }
  node.set_dims(0, std::move(dims));
}

void eval_mean(Eval& node) {
  const Shape& shape = node.shape(0);
  const std::vector<int64_t> axes = mean_axes(node, node.rank(0));
  std::vector<double> sums(node.out_count(0));
  const std::vector<double> data = node.load<double>(0);
  for (uint64_t i = 0; i < data.size(); ++i) {
    uint64_t rest = i;
    uint64_t place = 0;
    uint64_t step = 1;
    for (size_t a = shape.size(); a-- > 0;) {
      const auto dim = static_cast<uint64_t>(shape[a]);
      if (!goes(axes, a)) {
        place += rest % dim * step;
        step *= dim;
      }
      rest /= dim;
    }
    sums[place] += data[i];
  }
  const Quantum from = quantum_at(node, 1);
  const Requantizer requantize(node, quantum_at(node, 3));
  const uint64_t count = sums.empty() ? 1 : data.size() / sums.size();
  for (double& sum : sums) sum = requantize(from.real(sum / static_cast<double>(count)));
  node.store(0, std::move(sums));
}

// One scale for all, or a list of them along an axis.
void infer_linear(Infer& node) {
  if (node.is_ranked(0) && node.is_ranked(1) && !product(node.dims(1)).is(1)) {
    node.require_rank(1, 1);
    const auto axis = static_cast<size_t>(normalize_axis(node.integer("axis", 1), node.rank(0)));
    unify(node.dims(0)[axis], node.dims(1)[0], "dims along the axis and scales");
  }
  if (node.is_ranked(1) && node.is_ranked(2))
    unify(product(node.dims(1)), product(node.dims(2)), "numbers of scales and zero points");
  infer_same_as_first(node);
}

void infer_quantize(Infer& node) {
  if (!node.has(2)) node.set_dtype(0, DType::uint8);
  infer_linear(node);
}

template <typename Fn>
void with_scales(Eval& node, Fn fn) {
  const ScalePlaces places(node);
  const std::vector<double> scales = node.load<double>(1);
  const std::vector<double> zeros = node.has(2) ? node.load<double>(2) : std::vector<double>(scales.size());
  std::vector<double> data = node.load<double>(0);
  for (uint64_t i = 0; i < data.size(); ++i) data[i] = fn(data[i], scales[places.of(i)], zeros[places.of(i)]);
  node.store(0, std::move(data));
}

// The quotient has the precision of float32.
void eval_quantize(Eval& node) {
  const double least = lowest_of<double>(node.out_dtype(0));
  const double largest = highest_of<double>(node.out_dtype(0));
  const bool is_wide = node.is_wide();
  with_scales(node, [=](double x, double scale, double zero) {
    const double quotient = is_wide ? x / scale : static_cast<double>(static_cast<float>(x / scale));
    const double place = round_even(quotient) + zero;
    return place > least ? std::min(place, largest) : least;
  });
}

void eval_dequantize(Eval& node) {
  with_scales(node, [](double x, double scale, double zero) { return (x - zero) * scale; });
}

}  // namespace

OperatorRows operator_microsoft_quantized() {
  static constexpr Traits kUnary = {Nature::elementwise,
                                    {.rounding = RoundingClass::coded, .codes = {0}, .scales = {1, 3}}};
  static constexpr Traits kBinary = {Nature::elementwise,
                                     {.rounding = RoundingClass::coded, .codes = {0, 3}, .scales = {1, 4, 6}}};
  static constexpr Operator kRows[] = {
      {.domain = kMicrosoft,
       .name = "QuantizeLinear",
       .traits = {Nature::quantization, {.scales = {1}, .coding = Coding::encodes}},
       .infer = infer_quantize,
       .eval = eval_quantize},
      {.domain = kMicrosoft,
       .name = "DequantizeLinear",
       .traits = {Nature::quantization,
                  {.rounding = RoundingClass::arithmetic, .codes = {0}, .scales = {1}, .coding = Coding::decodes}},
       .infer = infer_linear,
       .eval = eval_dequantize},
      {.domain = kMicrosoft, .name = "QLinearAdd", .traits = kBinary, .infer = infer_binary, .eval = eval_add},
      {.domain = kMicrosoft, .name = "QLinearMul", .traits = kBinary, .infer = infer_binary, .eval = eval_mul},
      {.domain = kMicrosoft,
       .name = "QLinearWhere",
       .traits = {Nature::elementwise, {.rounding = RoundingClass::coded, .codes = {1, 4}, .scales = {2, 5, 7}}},
       .infer = infer_where,
       .eval = eval_where},
      {.domain = kMicrosoft, .name = "QLinearSigmoid", .traits = kUnary, .infer = infer_unary, .eval = eval_sigmoid},
      {.domain = kMicrosoft,
       .name = "QLinearLeakyRelu",
       .traits = kUnary,
       .infer = infer_unary,
       .eval = eval_leaky_relu},
      {.domain = kMicrosoft,
       .name = "QLinearSoftmax",
       .traits = {Nature::normalization, {.rounding = RoundingClass::coded, .codes = {0}, .scales = {1, 3}}},
       .infer = infer_softmax,
       .eval = eval_softmax},
      {.domain = kMicrosoft,
       .name = "QLinearConcat",
       .traits = {Nature::movement,
                  {.rounding = RoundingClass::coded,
                   .range = ValueRange::unknown,
                   .codes = {2, 5, 8, 11, 14},
                   .scales = {0, 3, 6, 9, 12, 15}}},
       .infer = infer_concat,
       .eval = eval_concat},
      {.domain = kMicrosoft,
       .name = "QLinearReduceMean",
       .traits = {Nature::reduction, {.rounding = RoundingClass::coded, .codes = {0}, .scales = {1, 3}}},
       .infer = infer_mean,
       .eval = eval_mean},
      {.domain = kMicrosoft,
       .name = "QLinearGlobalAveragePool",
       .traits = {Nature::pool, {.rounding = RoundingClass::coded, .codes = {0}, .scales = {1, 3}}},
       .infer = infer_mean,
       .eval = eval_mean},
  };
  return kRows;
}

}  // namespace assay::ops
