// Before: Conv or ConvTranspose, then Add, Sub, Mul or Div with a constant with a number for each channel, or one for
//         all.
// After:  the convolution with the constant in its weights and bias.
// Only if: weights and bias are constant, and nothing else uses what is between.
// Class:  rounding; weights and biases are merged in double and rounded once.
#include "ir/queries.h"
#include "match/uses.h"
#include "passes/channels.h"
#include "passes/rules.h"

namespace assay::passes {
namespace {

void fuse(PassRun& run, ir::NodeId node) {
  for (const uint32_t index : {0u, 1u}) {
    const ir::ValueId between = operand(run.model(), node, index);
    if (!between || !match::is_only_for(run.model(), between, node)) continue;
    const std::optional<Weighted> convolution = find_convolution(run, producer(run.model(), between));
    if (!convolution) continue;
    const std::optional<ChannelAffine> affine = channel_arithmetic(run, node, *convolution);
    if (affine) return fold_behind(run, *convolution, node, *affine);
  }
}

void fuse_conv_arithmetic(PassRun& run) {
  const auto is_elementwise = [](const ops::Traits& traits) { return traits.is(ops::Nature::elementwise); };
  apply_rules(run, run, rules_of<PassRun>(is_elementwise, fuse));
}

}  // namespace

Pass pass_fuse_conv_arithmetic() {
  return {.name = "fuse-conv-arithmetic",
          .summary = "merge a constant factor or summand into the convolution before it",
          .pass_class = PassClass::rounding,
          .run = fuse_conv_arithmetic};
}

}  // namespace assay::passes
