#include <cmath>
#include <limits>

#include "base/parallel.h"
#include "ops/kernels/window/window.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

void infer_global_pool(Infer& node) {
  require_spatial(node);
  if (!node.is_ranked(0)) return;
  Dims dims(node.dims(0).size(), 1);
  dims[0] = node.dims(0)[0];
  dims[1] = node.dims(0)[1];
  node.set_dims(0, std::move(dims));
}

double power_of(const Node& node) {
  const double p = node.version() < 2 ? node.floating("p") : static_cast<double>(node.integer("p"));
  if (!(p > 0)) fail(ErrorCode::shape, "attribute `p` is {}", p);
  return p;
}

void infer_global_lp_pool(Infer& node) {
  power_of(node);
  infer_global_pool(node);
}

// Each element of output 0 is value(plane).
template <typename Value>
void pool_planes(Eval& node, Value value) {
  const std::vector<double> input = node.load<double>(0);
  std::vector<double> out(node.out_count(0));
  const uint64_t size = out.empty() ? 0 : input.size() / out.size();
  parallel_for(out.size(), 16, [&](uint64_t begin, uint64_t end) {
    for (uint64_t p = begin; p < end; ++p) out[p] = value(std::span(input).subspan(p * size, size));
  });
  node.store(0, std::move(out));
}

void eval_average(Eval& node) {
  pool_planes(node, [add = node.adder()](std::span<const double> plane) {
    double sum = 0;
    for (const double x : plane) sum = add(sum, x);
    return sum / static_cast<double>(plane.size());
  });
}

void eval_max(Eval& node) {
  pool_planes(node, [](std::span<const double> plane) {
    double best = -std::numeric_limits<double>::infinity();
    for (const double x : plane) best = x > best || std::isnan(x) ? x : best;
    return best;
  });
}

void eval_lp(Eval& node) {
  const double p = power_of(node);
  pool_planes(node, [&](std::span<const double> plane) {
    double sum = 0;
    for (const double x : plane) sum += p == 2 ? x * x : p == 1 ? std::abs(x) : std::pow(std::abs(x), p);
    return p == 2 ? std::sqrt(sum) : p == 1 ? sum : std::pow(sum, 1 / p);
  });
}

}  // namespace

OperatorRows operator_pool_global_pool() {
  static constexpr Operator kRows[] = {
      {.name = "GlobalAveragePool",
       .traits = {Nature::pool, {.range = ValueRange::first}},
       .infer = infer_global_pool,
       .eval = eval_average},
      {.name = "GlobalMaxPool",
       .traits = {Nature::pool, {.rounding = RoundingClass::exact, .range = ValueRange::first}},
       .infer = infer_global_pool,
       .eval = eval_max},
      {.name = "GlobalLpPool", .traits = {Nature::pool}, .infer = infer_global_lp_pool, .eval = eval_lp},
  };
  return kRows;
}

}  // namespace assay::ops
