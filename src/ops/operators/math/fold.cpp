#include <cmath>

#include "ops/kernels/elements/elementwise.h"
#include "ops/kernels/elements/known_elements.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

// Before version 8 the inputs have one shape.
void infer_fold(Infer& node) {
  if (node.version() >= 8 || !node.all_ranked()) return infer_broadcast(node);
  Dims result = node.dims(0);
  for (uint32_t i = 1; i < node.input_count(); ++i) {
    const Dims& dims = node.dims(i);
    if (dims.size() != result.size()) {
      fail(ErrorCode::shape, "inputs must have one shape, seen {} and {}", text(node.dims(0)), text(dims));
    }
    for (size_t a = 0; a < dims.size(); ++a) result[a] = unify(result[a], dims[a], "dims of all inputs");
  }
  node.set_dims(0, std::move(result));
}

void infer_elements(Infer& node, FunctionRef<Dim(const Dim& a, const Dim& b)> fn) {
  infer_fold(node);
  const std::optional<Dims>& dims = node.output(0).type.dims;
  const std::optional<std::vector<int64_t>> shape = dims ? numbers(*dims) : std::nullopt;
  if (!shape) return;
  std::optional<std::vector<Dim>> items = broadcast_elements(node, 0, *shape);
  for (uint32_t i = 1; items && i < node.input_count(); ++i) {
    const std::optional<std::vector<Dim>> more = broadcast_elements(node, i, *shape);
    if (!more) return;
    for (size_t k = 0; k < items->size(); ++k) (*items)[k] = fn((*items)[k], (*more)[k]);
  }
  if (items) node.set_elements(0, {*shape, std::move(*items)});
}

void infer_max(Infer& node) {
  infer_elements(node, [](const Dim& a, const Dim& b) { return max(a, b); });
}
void infer_min(Infer& node) {
  infer_elements(node, [](const Dim& a, const Dim& b) { return min(a, b); });
}

template <typename C>
bool is_nan(C x) {
  if constexpr (std::is_floating_point_v<C>)
    return std::isnan(x);
  else
    return false;
}

// The first NaN wins.
void eval_max(Eval& node) {
  with_carrier(node.dtype(0), [&](auto zero) {
    using C = decltype(zero);
    elementwise_fold<C>(node, [](C a, C b) { return !is_nan(a) && (b > a || is_nan(b)) ? b : a; });
  });
}

void eval_min(Eval& node) {
  with_carrier(node.dtype(0), [&](auto zero) {
    using C = decltype(zero);
    elementwise_fold<C>(node, [](C a, C b) { return !is_nan(a) && (b < a || is_nan(b)) ? b : a; });
  });
}

void eval_sum(Eval& node) { elementwise_fold<double>(node, node.adder()); }

void eval_mean(Eval& node) {
  const Shape shape = node.out_shape(0);
  const Adder add = node.adder();
  std::vector<BroadcastReader> readers;
  for (uint32_t i = 0; i < node.input_count(); ++i) readers.emplace_back(node.tensor_in(i), shape);
  store_tiles<double>(node, [&](uint64_t begin, std::span<double> out) {
    std::array<double, kTile> next;
    readers[0].read(begin, out);
    for (size_t i = 1; i < readers.size(); ++i) {
      readers[i].read(begin, std::span(next).first(out.size()));
      for (size_t k = 0; k < out.size(); ++k) out[k] = add(out[k], next[k]);
    }
    for (double& x : out) x /= static_cast<double>(readers.size());
  });
}

}  // namespace

OperatorRows operator_math_fold() {
  static constexpr Traits kCommutativeExact = {
      Nature::elementwise, {.rounding = RoundingClass::exact, .range = ValueRange::all, .is_commutative = true}};
  static constexpr Operator kRows[] = {
      {.name = "Sum", .traits = {Nature::elementwise, {.is_commutative = true}}, .infer = infer_fold, .eval = eval_sum},
      {.name = "Mean",
       .traits = {Nature::elementwise, {.range = ValueRange::all, .is_commutative = true}},
       .infer = infer_fold,
       .eval = eval_mean},
      {.name = "Max", .traits = kCommutativeExact, .infer = infer_max, .eval = eval_max},
      {.name = "Min", .traits = kCommutativeExact, .infer = infer_min, .eval = eval_min},
  };
  return kRows;
}

}  // namespace assay::ops
