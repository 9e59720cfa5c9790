#include "engine/layers/followers.h"

#include <limits>

namespace assay::engine {

namespace {

// Takes the sum of what is given and of an input that suits off the front of a chain; -1: there is none.
template <typename Suits>
int take_sum(const Layer& layer, Chain& chain, const Suits& suits) {
  if (chain.steps.empty() || chain.steps[0].op != ElementOp::add || chain.uses(0) != 1) return -1;
  const Chain::Step& sum = chain.steps[0];
  const int input = chain.input_of(sum.a == 0 ? sum.b : sum.a);
  if (input < 0 || !suits(layer.inputs[static_cast<size_t>(input)])) return -1;
  chain.drop_first();
  return input;
}

}  // namespace

int take_added(const Layer& layer, Chain& chain) {
  return take_sum(layer, chain, [&](const TensorDesc& desc) { return desc == layer.outputs[0]; });
}

int take_added_row(const Layer& layer, int64_t columns, Chain& chain) {
  return take_sum(layer, chain, [&](const TensorDesc& desc) {
    return desc.dtype == layer.outputs[0].dtype && is_dense(desc) && !desc.dims.empty() &&
           desc.dims.back() == columns && desc.count() == columns;
  });
}

std::optional<std::array<float, 2>> take_bounds(Chain& chain) {
  if (chain.steps.empty() || chain.steps[0].a != 0 || chain.uses(0) != 1) return std::nullopt;
  const Chain::Step first = chain.steps[0];
  const bool is_relu = first.op == ElementOp::relu;
  if (!is_relu && (first.op != ElementOp::clip || !(first.p <= first.q))) return std::nullopt;
  chain.drop_first();
  return is_relu ? std::array{0.0F, std::numeric_limits<float>::infinity()} : std::array{first.p, first.q};
}

}  // namespace assay::engine
