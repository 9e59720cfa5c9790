// Before: Gemm, or MatMul of a matrix, then BatchNormalization of its columns.
// After:  a Gemm with the scale in its weights and the shift in its bias.
// Only if: weights and statistics are constant, the normalization is at inference, nothing else uses what is between.
// Class:  rounding; weights are merged in double and rounded once.
#include "ir/queries.h"
#include "match/uses.h"
#include "passes/channels.h"
#include "passes/inferred.h"
#include "passes/rules.h"

namespace assay::passes {
namespace {

struct Context {
  PassRun& run;
  Inferred inferred;
};

void fuse(Context& context, ir::NodeId node) {
  PassRun& run = context.run;
  const ir::ValueId between = operand(run.model(), node, 0);
  if (!between || !match::is_only_for(run.model(), between, node)) return;
  const std::optional<Weighted> product = find_matrix_product(run, producer(run.model(), between));
  if (!product) return;
  if (!ops::traits(run.model(), product->node).has_bias) {  // of more dims than two the columns are another axis
    const ops::Dims* dims = context.inferred.dims(operand(run.model(), product->node, 0));
    if (!dims || dims->size() != 2) return;
  }
  const std::optional<ChannelAffine> affine = batch_normalization(run, node);
  if (affine) fold_behind(run, *product, node, *affine);
}

void fuse_gemm_bn(PassRun& run) {
  Context context{run, Inferred(run)};
  apply_rules(run, context, rules_of<Context>([](const ops::Traits& traits) { return traits.is_affine(); }, fuse));
}

}  // namespace

Pass pass_fuse_gemm_bn() {
  return {.name = "fuse-gemm-bn",
          .summary = "merge a BatchNormalization into the Gemm or MatMul before it",
          .pass_class = PassClass::rounding,
          .run = fuse_gemm_bn};
}

}  // namespace assay::passes
