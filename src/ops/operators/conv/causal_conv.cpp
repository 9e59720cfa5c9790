#include <cmath>

#include "base/parallel.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

bool is_silu(const Node& node) {
  const std::string_view word = node.string("activation");
  if (word != "none" && word != "silu" && word != "swish") {
    fail(ErrorCode::shape, "attribute `activation` is `{}`, expected none, silu or swish", word);
  }
  return word != "none";
}

void infer_causal_conv(Infer& node) {
  is_silu(node);
  for (const uint32_t input : {0U, 1U, 3U}) node.require_rank(input, 3);
  node.require_rank(2, 1);
  if (node.is_ranked(0)) node.set_dims(0, node.dims(0));
  if (!node.is_ranked(0) || !node.is_ranked(1)) return;
  const Dims& in = node.dims(0);
  const Dims& weight = node.dims(1);
  Dim channels = unify(in[1], weight[0], "channels of input and weights");
  unify(weight[1], 1, "the second dim of the weights and 1");
  if (weight[2].is(0)) fail(ErrorCode::shape, "the kernel has a size of 0");
  if (node.is_ranked(2)) channels = unify(channels, node.dims(2)[0], "channels and the length of the bias");
  Dims state = {in[0], channels, weight[2] - Dim(1)};
  for (size_t i = 0; node.is_ranked(3) && i < 3; ++i) {
    state[i] = unify(state[i], node.dims(3)[i], "dims of the past state and of what it continues");
  }
  node.set_dims(1, std::move(state));
}

void eval_causal_conv(Eval& node) {
  const Shape& shape = node.shape(0);
  const auto channels = static_cast<uint64_t>(shape[1]);
  const auto length = static_cast<uint64_t>(shape[2]);
  const auto kernel = static_cast<uint64_t>(node.shape(1)[2]);
  const std::vector<double> input = node.load<double>(0);
  const std::vector<double> weight = node.load<double>(1);
  const std::vector<double> bias = node.has(2) ? node.load<double>(2) : std::vector<double>(channels);
  const uint64_t kept = kernel - 1;
  const uint64_t lines = static_cast<uint64_t>(shape[0]) * channels;
  const std::vector<double> past = node.has(3) ? node.load<double>(3) : std::vector<double>(lines * kept);
  std::vector<double> out(input.size());
  std::vector<double> state(lines * kept);
  const bool has_activation = is_silu(node);
  parallel_for(lines, 1, [&](uint64_t l, uint64_t) {
    std::vector<double> line(past.begin() + static_cast<ptrdiff_t>(l * kept),
                             past.begin() + static_cast<ptrdiff_t>((l + 1) * kept));
    line.insert(line.end(), input.begin() + static_cast<ptrdiff_t>(l * length),
                input.begin() + static_cast<ptrdiff_t>((l + 1) * length));
    const uint64_t channel = l % channels;
    for (uint64_t t = 0; t < length; ++t) {
      double sum = 0;
      for (uint64_t k = 0; k < kernel; ++k) sum += weight[channel * kernel + k] * line[t + k];
      sum += bias[channel];
      out[l * length + t] = has_activation ? sum / (1 + std::exp(-sum)) : sum;
    }
    std::copy(line.end() - static_cast<ptrdiff_t>(kept), line.end(), state.begin() + static_cast<ptrdiff_t>(l * kept));
  });
  node.store(0, std::move(out));
  node.store(1, std::move(state));
}

Dim macs_of_causal_conv(const Infer& node) {
  if (!node.is_ranked(0) || !node.is_ranked(1)) return {};
  return product(node.dims(0)) * node.dims(1)[2];
}

}  // namespace

OperatorRows operator_conv_causal_conv() {
  static constexpr Operator kRows[] = {
      {.name = "CausalConvWithState",
       .since = 27,
       .traits = {Nature::product},
       .infer = infer_causal_conv,
       .eval = eval_causal_conv,
       .macs = macs_of_causal_conv},
  };
  return kRows;
}

}  // namespace assay::ops
