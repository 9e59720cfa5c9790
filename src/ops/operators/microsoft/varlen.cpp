#include <algorithm>

#include "ops/kernels/attention/sequences.h"
#include "ops/kernels/elements/sigmoid.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

constexpr uint32_t kBias = 3, kState = 4, kCaptured = 5;

int64_t number(const Node& node, std::string_view name, int64_t least, int64_t most) {
  const int64_t value = node.integer(name);
  if (value < least || value > most)
    fail(ErrorCode::shape, "attribute `{}` is {}, expected {} to {}", name, value, least, most);
  return value;
}

bool is_activated(const Node& node) {
  const std::string_view word = node.string("activation");
  if (word != "none" && word != "silu" && word != "swish")
    fail(ErrorCode::shape, "attribute `activation` is `{}`", word);
  return word != "none";
}

void infer_convolution(Infer& node) {
  is_activated(node);
  const int64_t dilation = number(node, "dilation", 1, INT32_MAX);
  const int64_t slots = number(node, "state_update_capacity", 0, 8);
  if ((slots > 0) != node.has(kCaptured))
    fail(ErrorCode::shape, "`capture_count` goes with a `state_update_capacity` above 0");
  node.require_rank(0, 2);
  node.require_rank(1, 3);
  node.require_rank(2, 1);
  node.require_rank(kState, 3);
  if (!node.is_ranked(0)) return;
  const Dims& dims = node.dims(0);
  node.set_dims(0, dims);
  if (node.is_ranked(1)) unify(dims[1], node.dims(1)[0], "channels of the input and of the weight");
  if (node.is_ranked(kBias)) unify(dims[1], node.dims(kBias)[0], "channels of the input and biases");
  if (!node.is_ranked(kState)) return;
  const Dims& state = node.dims(kState);
  unify(state[1], dims[1], "channels of input and state");
  if (node.is_ranked(1)) unify(state[2], (node.dims(1)[2] - Dim(1)) * Dim(dilation), "positions of the state");
  if (node.is_ranked(2)) unify(node.dims(2)[0], state[0] + Dim(1), "ends of sequences and states");
  node.set_dims(1, state);
  if (node.wants(2)) node.set_dims(2, {state[0], Dim(slots), dims[1]});
}

// Lines of positions, one for each channel of a sequence; its state lies in front.
void eval_convolution(Eval& node) {
  const auto channels = static_cast<uint64_t>(node.shape(0)[1]);
  const auto taps = static_cast<uint64_t>(node.shape(1)[2]);
  const auto back = static_cast<uint64_t>(node.shape(kState)[2]);
  const auto dilation = static_cast<uint64_t>(node.integer("dilation"));
  const std::vector<uint64_t> bounds = sequence_bounds(node, 2, static_cast<uint64_t>(node.shape(0)[0]));
  const std::vector<double> input = node.load<double>(0);
  const std::vector<double> weight = node.load<double>(1);
  const std::vector<double> bias = node.has(kBias) ? node.load<double>(kBias) : std::vector<double>(channels);
  std::vector<double> states = node.load<double>(kState);
  std::vector<double> output(input.size());
  const bool activates = is_activated(node);
  for (uint64_t b = 0; b + 1 < bounds.size(); ++b) {
    for (uint64_t c = 0; c < channels; ++c) {
      double* const state = states.data() + (b * channels + c) * back;
      std::vector<double> line(state, state + back);
      for (uint64_t t = bounds[b]; t < bounds[b + 1]; ++t) line.push_back(input[t * channels + c]);
      for (uint64_t t = bounds[b]; t < bounds[b + 1]; ++t) {
        double sum = bias[c];
        for (uint64_t j = 0; j < taps; ++j) sum += weight[c * taps + j] * line[t - bounds[b] + j * dilation];
        output[t * channels + c] = activates ? sum * sigmoid(sum) : sum;
      }
      std::copy(line.end() - static_cast<ptrdiff_t>(back), line.end(), state);
    }
  }
  node.store(0, std::move(output));
  node.store(1, std::move(states));
  if (!node.wants(2)) return;
  const auto slots = static_cast<uint64_t>(node.integer("state_update_capacity"));
  std::vector<double> updates((bounds.size() - 1) * slots * channels);
  const std::vector<int64_t> counts = node.has(kCaptured) ? node.integers_in(kCaptured) : std::vector<int64_t>();
  for (uint64_t b = 0; b < counts.size() && b + 1 < bounds.size(); ++b) {
    const uint64_t most = std::min(slots, bounds[b + 1] - bounds[b]);
    const uint64_t count = counts[b] < 0 ? 0 : std::min(static_cast<uint64_t>(counts[b]), most);
    std::copy_n(input.begin() + static_cast<ptrdiff_t>(bounds[b] * channels), count * channels,
                updates.begin() + static_cast<ptrdiff_t>(b * slots * channels));
  }
  node.store(2, std::move(updates));
}

Dim macs_of_convolution(const Infer& node) {
  if (!node.is_ranked(0) || !node.is_ranked(1)) return {};
  return product(node.dims(0)) * node.dims(1)[2];
}

}  // namespace

OperatorRows operator_microsoft_varlen() {
  static constexpr Operator kRows[] = {
      {.domain = kMicrosoft,
       .name = "VarlenCausalConvWithState",
       .traits = {Nature::product, {.indices = {2}}},
       .infer = infer_convolution,
       .eval = eval_convolution,
       .macs = macs_of_convolution},
  };
  return kRows;
}

}  // namespace assay::ops
