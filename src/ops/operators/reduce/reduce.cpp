#include <cmath>
#include <limits>

#include "ops/kernels/elements/elementwise.h"
#include "ops/kernels/elements/reduction.h"
#include "ops/kernels/quantization/numeric_limits.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <typename C>
using Line = std::span<const C>;

// Output 0 = fn(line), fn being called with the carrier of the input.
template <typename Fn>
void reduce_any(Eval& node, Fn fn) {
  const Lines lines(node.shape(0), reduced_axes(node));
  with_carrier(node.dtype(0), [&](auto zero) {
    using C = decltype(zero);
    node.store(0, reduce_lines<C>(lines, node.load<C>(0), [&](Line<C> line) -> C { return fn(line); }));
  });
}

// Reduces in double; integers get the part before the point, 0 if the result is not a finite number.
template <double (*Function)(Line<double>, Adder)>
void reduce_real(Eval& node) {
  const Lines lines(node.shape(0), reduced_axes(node));
  const bool is_integer = tensor::is_integer(node.dtype(0));
  node.store(0, reduce_lines<double>(lines, node.load<double>(0), [=, add = node.adder()](Line<double> line) {
               const double value = Function(line, add);
               return is_integer && !std::isfinite(value) ? 0 : value;
             }));
}

template <typename C>
C added(C a, C b, Adder add) {
  if constexpr (std::is_floating_point_v<C>)
    return add(a, b);
  else
    return wrapping_add(a, b);
}

struct Sum {
  Adder add;

  template <typename C>
  C operator()(Line<C> line) const {
    C sum = 0;
    for (const C x : line) sum = added(sum, x, add);
    return sum;
  }
};

struct Mean {
  Adder add;

  template <typename C>
  C operator()(Line<C> line) const {
    const C sum = Sum{add}(line);
    if (line.empty()) return std::numeric_limits<C>::quiet_NaN();  // 0 for integers
    return sum / static_cast<C>(line.size());
  }
};

struct Product {
  explicit Product(Adder /*none*/) {}

  template <typename C>
  C operator()(Line<C> line) const {
    C product = 1;
    for (const C x : line) product = wrapping_multiply(product, x);
    return product;
  }
};

struct SumSquare {
  Adder add;

  template <typename C>
  C operator()(Line<C> line) const {
    C sum = 0;
    for (const C x : line) sum = added(sum, wrapping_multiply(x, x), add);
    return sum;
  }
};

struct L1 {
  Adder add;

  template <typename C>
  C operator()(Line<C> line) const {
    C sum = 0;
    for (const C x : line) sum = added(sum, x < 0 ? wrapping_subtract(C{0}, x) : x, add);
    return sum;
  }
};

// NaN wins over everything.
template <typename C>
C largest(Line<C> line, C start) {
  for (const C x : line) {
    if (x > start || x != x) start = x;
    if (start != start) break;
  }
  return start;
}

template <typename C>
C smallest(Line<C> line, C start) {
  for (const C x : line) {
    if (x < start || x != x) start = x;
    if (start != start) break;
  }
  return start;
}

double l2(Line<double> line, Adder add) { return std::sqrt(SumSquare{add}(line)); }

double log_sum(Line<double> line, Adder add) { return std::log(Sum{add}(line)); }

double log_sum_exp(Line<double> line, Adder add) {
  const double top = largest(line, -kInfinity);
  if (!std::isfinite(top)) return top;
  double sum = 0;
  for (const double x : line) sum = add(sum, std::exp(x - top));
  return top + std::log(sum);
}

// Gives the greatest element; of no elements: minus infinity, or the least number of a type without it.
void eval_max(Eval& node) {
  const DType dtype = node.dtype(0);
  reduce_any(node, [=]<typename C>(Line<C> line) -> C {
    if constexpr (std::is_floating_point_v<C>)
      return largest(line, -kInfinity);
    else
      return largest(line, lowest_of<C>(dtype));
  });
}

void eval_min(Eval& node) {
  const DType dtype = node.dtype(0);
  reduce_any(node, [=]<typename C>(Line<C> line) -> C {
    if constexpr (std::is_floating_point_v<C>)
      return smallest(line, kInfinity);
    else
      return smallest(line, highest_of<C>(dtype));
  });
}

template <typename Function>
void eval_reduce(Eval& node) {
  reduce_any(node, Function{node.adder()});
}

// Small integer tensors reduced to one element: what counts the elements of a shape.
void infer_elements(Infer& node, std::optional<Dim> start, FunctionRef<Dim(const Dim& a, const Dim& b)> fn) {
  infer_reduction(node);
  const std::optional<std::vector<int64_t>> axes = reduced_axes(node);
  const std::optional<Elements> elements = node.elements(0);
  if (!axes || !elements || axes->size() != elements->shape.size()) return;
  if (elements->items.empty() && !start) return;
  Dim result = start ? *start : elements->items.front();
  for (size_t i = start ? 0 : 1; i < elements->items.size(); ++i) result = fn(result, elements->items[i]);
  node.set_elements(0, {Shape(node.flag("keepdims") ? axes->size() : 0, 1), {result}});
}

void infer_sum(Infer& node) {
  infer_elements(node, Dim(0), [](const Dim& a, const Dim& b) { return a + b; });
}
void infer_product(Infer& node) {
  infer_elements(node, Dim(1), [](const Dim& a, const Dim& b) { return a * b; });
}
void infer_max(Infer& node) {
  infer_elements(node, std::nullopt, [](const Dim& a, const Dim& b) { return max(a, b); });
}
void infer_min(Infer& node) {
  infer_elements(node, std::nullopt, [](const Dim& a, const Dim& b) { return min(a, b); });
}

}  // namespace

OperatorRows operator_reduce_reduce() {
  static constexpr Traits kReduction = {Nature::reduction, {.sizes = {1}}};
  static constexpr Traits kExact = {Nature::reduction,
                                    {.rounding = RoundingClass::exact, .range = ValueRange::first, .sizes = {1}}};
  static constexpr Operator kRows[] = {
      {.name = "ReduceSum", .traits = kReduction, .infer = infer_sum, .eval = eval_reduce<Sum>},
      {.name = "ReduceMean",
       .traits = {Nature::reduction, {.range = ValueRange::first, .sizes = {1}}},
       .infer = infer_reduction,
       .eval = eval_reduce<Mean>},
      {.name = "ReduceMax", .traits = kExact, .infer = infer_max, .eval = eval_max},
      {.name = "ReduceMin", .traits = kExact, .infer = infer_min, .eval = eval_min},
      {.name = "ReduceProd", .traits = kReduction, .infer = infer_product, .eval = eval_reduce<Product>},
      {.name = "ReduceSumSquare", .traits = kReduction, .infer = infer_reduction, .eval = eval_reduce<SumSquare>},
      {.name = "ReduceL1", .traits = kReduction, .infer = infer_reduction, .eval = eval_reduce<L1>},
      {.name = "ReduceL2", .traits = kReduction, .infer = infer_reduction, .eval = reduce_real<l2>},
      {.name = "ReduceLogSum", .traits = kReduction, .infer = infer_reduction, .eval = reduce_real<log_sum>},
      {.name = "ReduceLogSumExp", .traits = kReduction, .infer = infer_reduction, .eval = reduce_real<log_sum_exp>},
  };
  return kRows;
}

}  // namespace assay::ops
