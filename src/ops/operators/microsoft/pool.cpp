#include <array>

#include "base/parallel.h"
#include "ops/kernels/quantization/requantize.h"
#include "ops/kernels/window/channels_last.h"
#include "ops/kernels/window/window_walk.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

constexpr std::array<uint32_t, 1> kImage = {0};

const Operator& max_pool() { return *find_operator("", "MaxPool", 12); }

void infer_max(Infer& node) { infer_channels_last(node, kImage, max_pool().infer); }
void eval_max(Eval& node) { eval_channels_last(node, kImage, max_pool().eval); }

void infer_average(Infer& node) {
  for (const uint32_t input : {1U, 2U, 3U, 4U}) {
    if (!node.is_ranked(input) || !product(node.dims(input)).is_number() || product(node.dims(input)).is(1)) continue;
    fail(ErrorCode::shape, "input {} must be one element, its shape is {}", input, text(node.dims(input)));
  }
  if (!node.flag("channels_last")) return infer_pool(node);
  infer_channels_last(node, kImage, infer_pool);
}

// Averages windows. Elements around the image count as 0, if they count: beyond the padding too.
void average(Eval& node) {
  const Shape& shape = node.shape(0);
  const size_t axes = shape.size() - 2;
  const Window window = make_window(read_window_rules(node, axes), spatial(shape), read_kernel(node, axes));
  const WindowWalk walk(window);
  double taps = 1;
  for (const WindowAxis& axis : window) taps *= static_cast<double>(axis.kernel);
  const bool counts_padding = node.flag("count_include_pad");
  const std::vector<double> input = node.load<double>(0);
  const double x_scale = node.scalar<double>(1, 1);
  const double x_zero = node.scalar<double>(2, 0);
  const double y_scale = node.scalar<double>(3, 1);
  const double y_zero = node.scalar<double>(4, 0);
  const Quantizer quantize(node.out_dtype(0));
  std::vector<double> result(node.out_count(0));
  parallel_for(result.size(), 64, [&](uint64_t begin, uint64_t end) {
    for (uint64_t at = begin; at < end; ++at) {
      const double* plane = input.data() + at / walk.windows() * walk.plane();
      double sum = 0;
      uint64_t seen = 0;
      walk.lines(at % walk.windows(), [&](uint64_t first, uint64_t step, uint64_t count) {
        for (uint64_t i = 0; i < count; ++i) sum += plane[first + i * step] - x_zero;
        seen += count;
      });
      result[at] = quantize(sum * x_scale / (counts_padding ? taps : static_cast<double>(seen)) / y_scale, y_zero);
    }
  });
  node.store(0, std::move(result));
}

void eval_average(Eval& node) {
  if (!node.flag("channels_last")) return average(node);
  eval_channels_last(node, kImage, average);
}

Dim work_of_average(const Infer& node) {
  return node.flag("channels_last") ? pool_work_channels_last(node) : pool_work(node);
}

}  // namespace

OperatorRows operator_microsoft_pool() {
  static constexpr Operator kRows[] = {
      {.domain = kMicrosoft,
       .name = "NhwcMaxPool",
       .traits = {Nature::pool},
       .infer = infer_max,
       .eval = eval_max,
       .work = pool_work_channels_last},
      {.domain = kMicrosoft,
       .name = "QLinearAveragePool",
       .traits = {Nature::pool, {.rounding = RoundingClass::coded, .codes = {0}, .scales = {1, 3}}},
       .infer = infer_average,
       .eval = eval_average,
       .work = work_of_average},
  };
  return kRows;
}

}  // namespace assay::ops
