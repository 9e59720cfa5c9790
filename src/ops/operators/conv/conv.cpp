#include <algorithm>
#include <array>

#include "ops/kernels/movement/tensor_writer.h"
#include "ops/kernels/window/convolution.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

constexpr uint64_t kRun = 256;

void infer_conv(Infer& node) { infer_convolution(node, 1, 2); }
Dim macs_of_conv(const Infer& node) { return convolution_macs(node, 1); }

void eval_conv(Eval& node) {
  const Convolution what = read_convolution(node, 1);
  const std::vector<double> input = node.load<double>(0);
  const std::vector<double> bias = node.has(2) ? node.load<double>(2) : std::vector<double>();
  const Tensor& weights = node.tensor_in(1);
  const uint64_t filters = what.groups * what.filters;
  TensorWriter output(node, 0);
  convolve(
      what, input,
      [&](uint64_t filter, uint64_t begin, std::span<double> out) {
        tensor::load(weights.dtype(), weights.bytes(), filter * what.taps() + begin, out);
      },
      [&](uint64_t row, uint64_t begin, std::span<const double> sums) {
        const uint64_t first = row * what.out_plane() + begin;
        if (bias.empty()) return output.write(first, sums);
        const double offset = bias[row % filters];
        std::array<double, kRun> run;
        for (uint64_t at = 0; at < sums.size(); at += kRun) {
          const uint64_t count = std::min<uint64_t>(kRun, sums.size() - at);
          for (uint64_t i = 0; i < count; ++i) run[i] = sums[at + i] + offset;
          output.write(first + at, std::span<const double>(run).first(count));
        }
      });
  output.finish();
}

}  // namespace

OperatorRows operator_conv_conv() {
  static constexpr Operator kRows[] = {
      {.name = "Conv",
       .traits = {Nature::product, {.product = ProductKind::convolution, .has_bias = true}},
       .infer = infer_conv,
       .eval = eval_conv,
       .macs = macs_of_conv},
  };
  return kRows;
}

}  // namespace assay::ops
