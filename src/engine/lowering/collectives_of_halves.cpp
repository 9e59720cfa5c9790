#include "engine/lowering/collectives_of_halves.h"

#include <vector>

#include "engine/lowering/moves.h"
#include "ops/inference.h"
#include "ops/traits.h"

namespace assay::engine {
namespace {

bool is_half(const ops::Type& type) {
  return type.is_tensor() && (type.dtype == tensor::DType::float16 || type.dtype == tensor::DType::bfloat16);
}

}  // namespace

void exchange_halves(ir::Model& model, ir::Rewriter& rewriter) {
  std::vector<ir::NodeId> collectives;
  for (const ir::NodeId node : ir::nodes(model, model.main_graph())) {
    if (model.text(model[node].op) == "DistCollective" && model[node].operands.size() == 1) collectives.push_back(node);
  }
  if (collectives.empty()) return;
  ops::Inference inference(model);
  inference.run();
  for (const ir::NodeId node : collectives) {
    const ir::NodeId cast = producer_for_one(model, model[node].operands[0].value);
    if (!cast.valid() || !ops::traits(model, cast).is_cast() || !model.origins().of(cast).empty()) continue;
    const ir::ValueId half = model[cast].operands[0].value;
    if (!is_half(inference.type(half))) continue;
    ir::Patch patch;
    const ir::PatchValue exchanged = add_like(patch, model, node, {half});
    patch.replace(model[node].results[0], add_like(patch, model, cast, {exchanged}));
    patch.remove(node);
    patch.remove(cast);
    if (!rewriter.commit("{0} where ranks exchange 16-bit floats", patch)) return;
  }
}

}  // namespace assay::engine
