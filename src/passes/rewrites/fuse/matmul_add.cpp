// Before: MatMul of two matrices, then Add.
// After:  a Gemm.
// Only if: what is added broadcasts to the product without changing its shape, nothing else uses the product, and what
//          is multiplied is not dequantised, since products of codes add constant rows only.
// Class:  rounding; the sum is rounded once instead of twice.
#include <array>

#include "ir/queries.h"
#include "match/uses.h"
#include "ops/traits.h"
#include "passes/inferred.h"
#include "passes/rules.h"

namespace assay::passes {
namespace {

struct Context {
  PassRun& run;
  Inferred inferred;
};

// True if Gemm broadcasts a value of these dims to the product.
bool is_addend(const ops::Dims* dims, const ops::Dims& product) {
  if (!dims || dims->size() > 2) return false;
  for (size_t i = 0; i < dims->size(); ++i) {
    const ops::Dim& dim = (*dims)[i];
    if (!dim.is(1) && !dim.equals(product[2 - dims->size() + i])) return false;
  }
  return true;
}

void fuse(Context& context, ir::NodeId node) {
  PassRun& run = context.run;
  const ir::Model& model = run.model();
  if (run.facts(node).version() < 7) return;
  for (const uint32_t index : {0u, 1u}) {
    const ir::ValueId product = operand(model, node, index);
    const ir::NodeId matmul = producer(model, product);
    const ir::ValueId addend = operand(model, node, 1 - index);
    if (!matmul || !addend || !run.is_op(matmul, "MatMul") || !match::is_only_for(model, product, node)) continue;
    const ir::NodeId rows = producer(model, operand(model, matmul, 0));
    if (rows && ops::traits(model, rows).decodes()) continue;
    const ops::Dims* left = context.inferred.dims(operand(model, matmul, 0));
    const ops::Dims* right = context.inferred.dims(operand(model, matmul, 1));
    if (!left || !right || left->size() != 2 || right->size() != 2) continue;
    if (!is_addend(context.inferred.dims(addend), {left->front(), right->back()})) continue;
    ir::Patch patch;
    patch.replace(result(model, node),
                  patch.add({.op = "Gemm",
                             .name = model[matmul].name,
                             .operands = {operand(model, matmul, 0), operand(model, matmul, 1), addend}}));
    patch.remove(node);
    patch.remove(matmul);
    run.rewriter().commit("fuse {0} into {1}, as Gemm", patch);
    return;
  }
}

void fuse_matmul_add(PassRun& run) {
  Context context{run, Inferred(run)};
  apply_rules(run, context, std::array{Rule<Context>{"Add", fuse}});
}

}  // namespace

Pass pass_fuse_matmul_add() {
  return {.name = "fuse-matmul-add",
          .summary = "merge a MatMul and the Add after it into a Gemm",
          .pass_class = PassClass::rounding,
          .run = fuse_matmul_add};
}

}  // namespace assay::passes
