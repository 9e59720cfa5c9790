#include <cmath>
#include <limits>

#include "base/parallel.h"
#include "ops/kernels/movement/tensor_writer.h"
#include "ops/kernels/window/window_walk.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

void infer_max_pool(Infer& node) {
  const int64_t order = node.integer("storage_order", 0);
  if (order != 0 && order != 1) fail(ErrorCode::shape, "attribute `storage_order` is {}, expected 0 or 1", order);
  infer_pool(node);
}

// The result of a window that sees only padding.
template <typename C>
C lowest(DType dtype) {
  if constexpr (std::is_floating_point_v<C>)
    return -std::numeric_limits<C>::infinity();
  else if constexpr (std::is_signed_v<C>)
    return -(C{1} << (tensor::bit_width(dtype) - 1));
  else
    return 0;
}

template <typename C>
struct Best {
  C value;
  uint64_t place = 0;
};

// The first of the largest elements; the first NaN, if there is one.
template <typename C>
Best<C> find_best(const C* plane, const WindowWalk& walk, uint64_t window, C start) {
  Best<C> best{start};
  bool is_first = true;
  walk.lines(window, [&](uint64_t first, uint64_t step, uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) {
      const C value = plane[first + i * step];
      bool is_better = value > best.value || is_first;
      if constexpr (std::is_floating_point_v<C>) is_better = is_better || (value != value && best.value == best.value);
      if (is_better) best = {value, first + i * step};
      is_first = false;
    }
  });
  return best;
}

// The place in a plane that is counted with its first axis running fastest.
int64_t column_major(uint64_t place, const Window& window) {
  uint64_t step = 1;
  for (const WindowAxis& axis : window) step *= static_cast<uint64_t>(axis.in);
  uint64_t result = 0;
  for (size_t i = window.size(); i-- > 0;) {
    const auto size = static_cast<uint64_t>(window[i].in);
    step /= size;
    result += place % size * step;
    place /= size;
  }
  return static_cast<int64_t>(result);
}

template <typename C>
void eval_as(Eval& node) {
  const Shape& shape = node.shape(0);
  const size_t axes = shape.size() - 2;
  const Window window = make_window(read_window_rules(node, axes), spatial(shape), read_kernel(node, axes));
  const WindowWalk walk(window);
  const std::vector<C> input = node.load<C>(0);
  const C start = lowest<C>(node.dtype(0));
  const bool is_column_major = node.flag("storage_order");
  TensorWriter output(node, 0);
  std::vector<int64_t> indices(node.wants(1) ? node.out_count(0) : 0);
  const uint64_t planes = walk.windows() == 0 ? 0 : node.out_count(0) / walk.windows();
  parallel_for(planes, 1, [&](uint64_t p, uint64_t) {
    std::vector<C> values(walk.windows());
    for (uint64_t w = 0; w < values.size(); ++w) {
      const Best<C> best = find_best(input.data() + p * walk.plane(), walk, w, start);
      values[w] = best.value;
      if (indices.empty()) continue;
      const int64_t place = is_column_major ? column_major(best.place, window) : static_cast<int64_t>(best.place);
      indices[p * walk.windows() + w] = static_cast<int64_t>(p * walk.plane()) + place;
    }
    output.write(p * walk.windows(), std::span<const C>(values));
  });
  output.finish();
  if (node.wants(1)) node.store(1, std::move(indices));
}

void eval_max_pool(Eval& node) {
  with_carrier(node.dtype(0), [&](auto zero) { eval_as<decltype(zero)>(node); });
}

}  // namespace

OperatorRows operator_pool_max_pool() {
  static constexpr Operator kRows[] = {
      {.name = "MaxPool",
       .traits = {Nature::pool, {.rounding = RoundingClass::exact, .range = ValueRange::first}},
       .infer = infer_max_pool,
       .eval = eval_max_pool,
       .work = pool_work},
  };
  return kRows;
}

}  // namespace assay::ops
