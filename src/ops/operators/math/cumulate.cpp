#include "base/parallel.h"
#include "ops/kernels/elements/elementwise.h"
#include "ops/kernels/movement/movement.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

constexpr uint64_t kGrain = 16384;

void infer_cumulate(Infer& node) {
  if (node.is_ranked(1) && product(node.dims(1)).is_number() && !product(node.dims(1)).is(1)) {
    fail(ErrorCode::shape, "the axis must be a scalar, its shape is {}", text(node.dims(1)));
  }
  const std::optional<int64_t> axis = node.integer_of(1);
  if (axis && node.is_ranked(0)) normalize_axis(*axis, node.rank(0));
  infer_same_as_first(node);
}

template <typename C>
struct Cumulation {
  AxisView view;
  bool exclusive;
  bool reverse;
  C start;

  template <typename Fn>
  void run(std::vector<C>& data, uint64_t line, Fn fn) const {
    C total = start;
    for (uint64_t step = 0; step < view.length; ++step) {
      const uint64_t k = reverse ? view.length - 1 - step : step;
      C& item = data[view.place(line / view.inner, k, line % view.inner)];
      const C before = total;
      total = step == 0 && !exclusive ? item : fn(total, item);
      item = exclusive ? before : total;
    }
  }
};

template <typename Fn>
void eval_cumulate(Eval& node, int start, Fn fn) {
  const AxisView view = view_axis(node.shape(0), normalize_axis(node.scalar<int64_t>(1, 0), node.rank(0)));
  with_carrier(node.dtype(0), [&](auto zero) {
    using C = decltype(zero);
    std::vector<C> data = node.load<C>(0);
    const Cumulation<C> cumulation{view, node.flag("exclusive"), node.flag("reverse"), static_cast<C>(start)};
    const uint64_t lines = data.empty() ? 0 : view.outer * view.inner;
    parallel_for(lines, std::max<uint64_t>(kGrain / std::max<uint64_t>(view.length, 1), 1),
                 [&](uint64_t begin, uint64_t end) {
                   for (uint64_t line = begin; line < end; ++line) cumulation.run(data, line, fn);
                 });
    node.store(0, std::move(data));
  });
}

void eval_cumsum(Eval& node) {
  eval_cumulate(node, 0, [add = node.adder()]<typename C>(C a, C b) -> C {
    if constexpr (std::is_floating_point_v<C>)
      return add(a, b);
    else
      return wrapping_add(a, b);
  });
}

void eval_cumprod(Eval& node) {
  eval_cumulate(node, 1, [](auto a, auto b) { return wrapping_multiply(a, b); });
}

}  // namespace

OperatorRows operator_math_cumulate() {
  static constexpr Operator kRows[] = {
      {.name = "CumSum", .traits = {Nature::reduction}, .infer = infer_cumulate, .eval = eval_cumsum},
      {.name = "CumProd", .traits = {Nature::reduction}, .infer = infer_cumulate, .eval = eval_cumprod},
  };
  return kRows;
}

}  // namespace assay::ops
