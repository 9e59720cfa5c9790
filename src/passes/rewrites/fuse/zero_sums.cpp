// Before: Add of a value and a constant of zeros, as exporters leave for biases that were never trained.
// After:  the value.
// Only if: the sum is known to have the shape of the value, and a graph output does not become an input or a second
//         output.
// Class:  rounding; -0 stays -0, where the sum is 0.
#include <array>

#include "ir/queries.h"
#include "passes/constants.h"
#include "passes/inferred.h"
#include "passes/rules.h"

namespace assay::passes {
namespace {

struct Context {
  PassRun& run;
  Inferred inferred;
};

void remove(Context& context, ir::NodeId node) {
  const ir::Model& model = context.run.model();
  const ir::ValueId sum = result(model, node);
  if (!sum || context.run.facts(node).version() < 7) return;
  for (const uint32_t index : {1u, 0u}) {
    const ir::ValueId other = operand(model, node, 1 - index);
    const tensor::Tensor* constant = context.run.constant(operand(model, node, index));
    if (!constant || !other || constant->count() == 0 || !is_filled_with(*constant, 0.0)) continue;
    if (!context.inferred.is_same_shape(other, sum) || !context.run.rewriter().can_replace(sum, other)) continue;
    ir::Patch patch;
    patch.replace(sum, other);
    patch.remove(node);
    context.run.rewriter().commit("remove {0}, which adds zeros", patch);
    return;
  }
}

void remove_zero_sums(PassRun& run) {
  Context context{run, Inferred(run)};
  apply_rules(run, context, std::array{Rule<Context>{"Add", remove}});
}

}  // namespace

Pass pass_fuse_zero_sums() {
  return {.name = "remove-zero-sums",
          .summary = "remove sums with constants of zeros",
          .pass_class = PassClass::rounding,
          .run = remove_zero_sums};
}

}  // namespace assay::passes
