#include <cmath>

#include "base/parallel.h"
#include "ops/kernels/movement/tensor_writer.h"
#include "ops/kernels/window/window_walk.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

double power_of(const Node& node) {
  const double p = node.version() < 2 ? node.floating("p") : static_cast<double>(node.integer("p"));
  if (!(p > 0)) fail(ErrorCode::shape, "attribute `p` is {}", p);
  return p;
}

void infer_lp_pool(Infer& node) {
  power_of(node);
  infer_pool(node);
}

Window window_of(const Eval& node) {
  const Shape& shape = node.shape(0);
  const size_t axes = shape.size() - 2;
  return make_window(read_window_rules(node, axes), spatial(shape), read_kernel(node, axes));
}

// Each element of output 0 is value(plane, walk, window).
template <typename Value>
void pool_planes(Eval& node, Value value) {
  const Window window = window_of(node);
  const WindowWalk walk(window);
  const std::vector<double> input = node.load<double>(0);
  TensorWriter output(node, 0);
  const uint64_t planes = walk.windows() == 0 ? 0 : node.out_count(0) / walk.windows();
  parallel_for(planes, 1, [&](uint64_t p, uint64_t) {
    const double* plane = input.data() + p * walk.plane();
    std::vector<double> results(walk.windows());
    for (uint64_t w = 0; w < results.size(); ++w) results[w] = value(plane, walk, w);
    output.write(p * walk.windows(), std::span<const double>(results));
  });
  output.finish();
}

void eval_average_pool(Eval& node) {
  const bool counts_padding = node.integer("count_include_pad", 0) != 0;
  const Adder add = node.adder();
  pool_planes(node, [&](const double* plane, const WindowWalk& walk, uint64_t w) {
    double sum = 0;
    uint64_t seen = 0;
    walk.lines(w, [&](uint64_t first, uint64_t step, uint64_t count) {
      for (uint64_t i = 0; i < count; ++i) sum = add(sum, plane[first + i * step]);
      seen += count;
    });
    return sum / static_cast<double>(counts_padding ? walk.padded_size(w) : seen);
  });
}

void eval_lp_pool(Eval& node) {
  const double p = power_of(node);
  const auto raise = [p](double x) { return p == 2 ? x * x : p == 1 ? std::abs(x) : std::pow(std::abs(x), p); };
  pool_planes(node, [&](const double* plane, const WindowWalk& walk, uint64_t w) {
    double sum = 0;
    walk.lines(w, [&](uint64_t first, uint64_t step, uint64_t count) {
      for (uint64_t i = 0; i < count; ++i) sum += raise(plane[first + i * step]);
    });
    return p == 2 ? std::sqrt(sum) : p == 1 ? sum : std::pow(sum, 1 / p);
  });
}

}  // namespace

OperatorRows operator_pool_pool() {
  static constexpr Operator kRows[] = {
      {.name = "AveragePool",
       .traits = {Nature::pool, {.range = ValueRange::first_or_zero}},
       .infer = infer_pool,
       .eval = eval_average_pool,
       .work = pool_work},
      {.name = "LpPool", .traits = {Nature::pool}, .infer = infer_lp_pool, .eval = eval_lp_pool, .work = pool_work},
  };
  return kRows;
}

}  // namespace assay::ops
