#include "engine/lowering/widen_products.h"

#include <array>

#include "ir/queries.h"
#include "passes/inferred.h"
#include "passes/pipelines.h"
#include "passes/rules.h"

namespace assay::engine {
namespace {

using ir::NodeId;
using ir::PatchValue;
using tensor::DType;

struct Context {
  passes::PassRun& run;
  passes::Inferred inferred;
};

void widen(Context& context, NodeId node) {
  const ir::Model& model = context.run.model();
  const ir::ValueId result = ir::result(model, node);
  if (context.inferred.dtype(result) != DType::float16) return;
  ir::Patch patch;
  const auto cast = [&](PatchValue value, DType dtype) {
    const ir::Attribute to = ir::Attribute::of(context.run.edit().intern("to"), static_cast<int64_t>(dtype));
    return patch.add({.op = "Cast", .operands = {value}, .attributes = {to}});
  };
  std::vector<PatchValue> operands;
  for (const ir::Use& use : model[node].operands) {
    operands.push_back(use.value ? cast(use.value, DType::float32) : PatchValue());
  }
  const auto& attributes = model[node].attributes;
  const PatchValue product = patch.add({.op = model.text(model[node].op),
                                        .name = model[node].name,
                                        .operands = std::move(operands),
                                        .attributes = {attributes.begin(), attributes.end()}});
  patch.replace(result, cast(product, DType::float16));
  patch.remove(node);
  context.run.rewriter().commit("{0} in float32", patch);
}

constexpr std::array<passes::Rule<Context>, 3> kRules = {{{"MatMul", widen}, {"Gemm", widen}, {"Conv", widen}}};

}  // namespace

void widen_products(ir::Model& model, ir::Rewriter& rewriter) {
  const std::array<passes::Pass, 1> pass = {{{.name = "widen-products",
                                              .summary = "products of float16 in float32",
                                              .pass_class = passes::PassClass::rounding,
                                              .run = [](passes::PassRun& run) {
                                                Context context{run, passes::Inferred(run)};
                                                passes::apply_rules(run, context, kRules);
                                              }}}};
  passes::Pipeline(model, rewriter, passes::Options()).run(pass);
}

}  // namespace assay::engine
