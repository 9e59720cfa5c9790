#include "ops/kernels/elements/fused_activation.h"
#include "ops/kernels/window/convolution.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

FusedActivation activation_of(const Node& node) {
  return FusedActivation(node.string("activation", ""), node.floats("activation_params"));
}

void infer_fused_conv(Infer& node) {
  activation_of(node);
  infer_convolution(node, 1, 2);
  if (!node.is_ranked(3) || !node.output(0).type.dims) return;
  const Dims& dims = *node.output(0).type.dims;
  node.require_rank(3, static_cast<int64_t>(dims.size()));
  for (size_t a = 0; a < dims.size(); ++a) unify(dims[a], node.dims(3)[a], "dims of the result and of Z");
}

// The convolution, a bias for each filter, Z, and then the activation.
void eval_fused_conv(Eval& node) {
  const Convolution what = read_convolution(node, 1);
  const std::vector<double> input = node.load<double>(0);
  const std::vector<double> bias = node.has(2) ? node.load<double>(2) : std::vector<double>();
  const std::vector<double> addend = node.has(3) ? node.load<double>(3) : std::vector<double>();
  const FusedActivation activation = activation_of(node);
  const Tensor& weights = node.tensor_in(1);
  const uint64_t filters = what.groups * what.filters;
  std::vector<double> result(node.out_count(0));
  convolve(
      what, input,
      [&](uint64_t filter, uint64_t begin, std::span<double> out) {
        tensor::load(weights.dtype(), weights.bytes(), filter * what.taps() + begin, out);
      },
      [&](uint64_t row, uint64_t begin, std::span<const double> sums) {
        const uint64_t first = row * what.out_plane() + begin;
        for (uint64_t i = 0; i < sums.size(); ++i) {
          const double biased = sums[i] + (bias.empty() ? 0 : bias[row % filters]);
          result[first + i] = activation(biased + (addend.empty() ? 0 : addend[first + i]));
        }
      });
  node.store(0, std::move(result));
}

}  // namespace

OperatorRows operator_microsoft_fused_conv() {
  static constexpr Operator kRows[] = {
      {.domain = kMicrosoft,
       .name = "FusedConv",
       .traits = {Nature::product},
       .infer = infer_fused_conv,
       .eval = eval_fused_conv,
       .macs = [](const Infer& node) { return convolution_macs(node, 1); }},
  };
  return kRows;
}

}  // namespace assay::ops
