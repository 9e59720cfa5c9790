// Before: Conv or ConvTranspose, then BatchNormalization.
// After:  the convolution with the scale in its weights and the shift in its bias.
// Only if: weights and statistics are constant, the normalization is at inference, nothing else uses what is between.
// Class:  rounding; weights are merged in double and rounded once.
#include "ir/queries.h"
#include "match/uses.h"
#include "passes/channels.h"
#include "passes/rules.h"

namespace assay::passes {
namespace {

void fuse(PassRun& run, ir::NodeId node) {
  const ir::ValueId between = operand(run.model(), node, 0);
  if (!between || !match::is_only_for(run.model(), between, node)) return;
  const std::optional<Weighted> convolution = find_convolution(run, producer(run.model(), between));
  const std::optional<ChannelAffine> affine = batch_normalization(run, node);
  if (convolution && affine) fold_behind(run, *convolution, node, *affine);
}

void fuse_conv_bn(PassRun& run) {
  apply_rules(run, run, rules_of<PassRun>([](const ops::Traits& traits) { return traits.is_affine(); }, fuse));
}

}  // namespace

Pass pass_fuse_conv_bn() {
  return {.name = "fuse-conv-bn",
          .summary = "merge a BatchNormalization into the convolution before it",
          .pass_class = PassClass::rounding,
          .run = fuse_conv_bn};
}

}  // namespace assay::passes
