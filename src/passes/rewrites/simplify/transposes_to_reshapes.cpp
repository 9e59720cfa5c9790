// Before: Transpose that moves no dims but those of size 1.
// After:  a Reshape, which merges with others and costs nothing to run.
// Only if: all dims are known but one, and none is 0.
#include "ir/queries.h"
#include "passes/inferred.h"
#include "passes/reshapes.h"
#include "passes/rules.h"

namespace assay::passes {
namespace {

struct Context {
  PassRun& run;
  Inferred inferred;
};

// True if the dims that are not 1 keep their order; by default it is turned around.
bool moves_only_ones(const ops::Dims& dims, const std::vector<int64_t>& perm) {
  int64_t last = -1;
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t axis = perm.empty() ? static_cast<int64_t>(dims.size() - 1 - i) : perm[i];
    if (dims[static_cast<size_t>(axis)].is(1)) continue;
    if (axis < last) return false;
    last = axis;
  }
  return true;
}

void reshape(Context& context, ir::NodeId node) {
  const ir::Model& model = context.run.model();
  const ir::ValueId in = operand(model, node, 0);
  const ir::ValueId out = result(model, node);
  const ops::Node facts = context.run.facts(node);
  const ops::Dims* dims = context.inferred.dims(in);
  const ops::Dims* moved = out ? context.inferred.dims(out) : nullptr;
  if (!dims || !moved || facts.version() < 5 || !moves_only_ones(*dims, facts.integers("perm"))) return;
  const std::optional<std::vector<int64_t>> target = reshape_target(*moved);
  if (!target) return;
  ir::Patch patch;
  patch.replace(out, add_reshape(patch, in, *target));
  patch.remove(node);
  context.run.rewriter().commit("moves only dims of size 1", patch);
}

void transposes_to_reshapes(PassRun& run) {
  Context context{run, Inferred(run)};
  const auto is_transpose = [](const ops::Traits& traits) { return traits.moves == ops::Moves::by_dims; };
  apply_rules(run, context, rules_of<Context>(is_transpose, reshape));
}

}  // namespace

Pass pass_simplify_transposes_to_reshapes() {
  return {.name = "transposes-to-reshapes",
          .summary = "make Reshapes of Transposes that move only dims of size 1",
          .run = transposes_to_reshapes};
}

}  // namespace assay::passes
