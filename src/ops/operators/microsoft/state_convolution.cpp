#include <algorithm>

#include "base/parallel.h"
#include "ops/kernels/elements/sigmoid.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

constexpr uint32_t kPast = 3;

bool is_activated(const Node& node) {
  const std::string_view word = node.string("activation");
  if (word != "none" && word != "silu" && word != "swish")
    fail(ErrorCode::shape, "attribute `activation` is `{}`", word);
  return word != "none";
}

int64_t number(const Node& node, std::string_view name, int64_t least, int64_t most) {
  const int64_t value = node.integer(name);
  if (value < least || value > most)
    fail(ErrorCode::shape, "attribute `{}` is {}, expected {} to {}", name, value, least, most);
  return value;
}

// Dims of a state: those of the input, with as many positions as the kernel looks back.
Dims state_dims(const Infer& node, bool is_last) {
  Dims dims = node.dims(0);
  const Dim taps = node.dims(1).back();
  Dim back;
  if (taps.is_number()) back = (*taps.number() - 1) * node.integer("dilation");
  (is_last ? dims[1] : dims.back()) = back;
  if (const int64_t slots = node.integer("state_window"); slots > 0) dims.insert(dims.begin(), Dim(slots));
  return dims;
}

void infer_convolution(Infer& node) {
  is_activated(node);
  number(node, "dilation", 1, INT32_MAX);
  number(node, "state_window", 0, 8);
  const int64_t axes = number(node, "ndim", 1, 3);
  const bool is_last = number(node, "channels_last", 0, 1) == 1;
  if (is_last && axes != 1) fail(ErrorCode::shape, "`channels_last` goes with `ndim` 1, it is {}", axes);
  if (!is_last) node.require_rank(0, axes + 2);
  node.require_rank(1, axes + 2);
  node.require_rank(2, 1);
  if (!node.is_ranked(0)) return;
  if (node.rank(0) < 3)
    fail(ErrorCode::shape, "the input must have a rank of 3 or more, its shape is {}", text(node.dims(0)));
  node.set_dims(0, node.dims(0));
  const Dim channels = is_last ? product(std::span(node.dims(0)).subspan(2)) : node.dims(0)[1];
  if (node.is_ranked(2)) unify(channels, node.dims(2)[0], "channels of the input and biases");
  if (!node.is_ranked(1)) return;
  unify(channels, node.dims(1)[0], "channels of the input and of the weight");
  if (node.dims(1).back().is(0)) fail(ErrorCode::shape, "the kernel has no elements");
  Dims state = state_dims(node, is_last);
  node.require_rank(kPast, static_cast<int64_t>(state.size()));
  for (size_t a = 0; a < state.size() && node.is_ranked(kPast); ++a)
    unify(state[a], node.dims(kPast)[a], "dims of `past_state`");
  node.set_dims(1, std::move(state));
}

// Lines of positions, one for each channel of a sequence; a state and the input lie one behind the other.
class CausalConvolution {
 public:
  explicit CausalConvolution(Eval& node)
      : node_(node),
        is_last_(node.flag("channels_last")),
        batch_(static_cast<uint64_t>(node.shape(0)[0])),
        channels_(static_cast<uint64_t>(node.shape(1)[0])),
        length_(static_cast<uint64_t>(is_last_ ? node.shape(0)[1] : node.shape(0)[2])),
        taps_(static_cast<uint64_t>(node.shape(1).back())),
        dilation_(static_cast<uint64_t>(node.integer("dilation"))),
        back_((taps_ - 1) * dilation_),
        slots_(static_cast<uint64_t>(node.integer("state_window"))),
        input_(node.load<double>(0)),
        weight_(node.load<double>(1)),
        output_(input_.size()),
        states_(node.out_count(1)) {
    if (node.has(2)) bias_ = node.load<double>(2);
    if (node.has(kPast)) past_ = node.load<double>(kPast);
  }

  void run() {
    const bool is_activated_here = is_activated(node_);
    parallel_for(batch_ * channels_, 1, [&](uint64_t begin, uint64_t end) {
      for (uint64_t i = begin; i < end; ++i) run_line(i / channels_, i % channels_, is_activated_here);
    });
    node_.store(0, std::move(output_));
    node_.store(1, std::move(states_));
  }

 private:
  uint64_t place(uint64_t b, uint64_t c, uint64_t at, uint64_t length) const {
    return is_last_ ? (b * length + at) * channels_ + c : (b * channels_ + c) * length + at;
  }

  void run_line(uint64_t b, uint64_t c, bool activates) {
    std::vector<double> line(back_ + length_);
    const uint64_t last = std::max<uint64_t>(slots_, 1) - 1;
    const uint64_t slot_size = batch_ * channels_ * back_;
    for (uint64_t i = 0; i < back_ && !past_.empty(); ++i) line[i] = past_[last * slot_size + place(b, c, i, back_)];
    for (uint64_t t = 0; t < length_; ++t) line[back_ + t] = input_[place(b, c, t, length_)];
    for (uint64_t t = 0; t < length_; ++t) {
      double sum = bias_.empty() ? 0 : bias_[c];
      for (uint64_t j = 0; j < taps_; ++j) sum += weight_[c * taps_ + j] * line[t + j * dilation_];
      output_[place(b, c, t, length_)] = activates ? sum * sigmoid(sum) : sum;
    }
    for (uint64_t slot = 0; slot <= last; ++slot) {
      const uint64_t from_end = last - slot;
      if (from_end > length_ || (from_end == length_ && from_end > 0)) continue;  // no position of this call
      for (uint64_t i = 0; i < back_; ++i)
        states_[slot * slot_size + place(b, c, i, back_)] = line[length_ - from_end + i];
    }
  }

  Eval& node_;
  bool is_last_;
  uint64_t batch_, channels_, length_, taps_, dilation_, back_, slots_;
  std::vector<double> input_, weight_, output_, states_, bias_, past_;
};

void eval_convolution(Eval& node) {
  if (node.integer("ndim") != 1) fail(ErrorCode::unsupported, "convolutions with a state over one dim only");
  CausalConvolution(node).run();
}

Dim macs_of_convolution(const Infer& node) {
  if (!node.is_ranked(0) || !node.is_ranked(1)) return {};
  return product(node.dims(0)) * node.dims(1).back();
}

}  // namespace

OperatorRows operator_microsoft_state_convolution() {
  static constexpr Operator kRows[] = {
      {.domain = kMicrosoft,
       .name = "CausalConvWithState",
       .traits = {Nature::product},
       .infer = infer_convolution,
       .eval = eval_convolution,
       .macs = macs_of_convolution},
  };
  return kRows;
}

}  // namespace assay::ops
