#include "engine/lowering/collectives_of_halves.h"

#include <vector>

#include "engine/layers/layer.h"
#include "engine/lowering/moves.h"
#include "ops/traits.h"

namespace assay::engine {
namespace {

bool is_half(const ops::Type& type) {
  return type.is_tensor() && (type.dtype == tensor::DType::float16 || type.dtype == tensor::DType::bfloat16);
}

bool is_collective(const ir::Model& model, ir::NodeId node) {
  return model.text(model[node].op) == "DistCollective" && model[node].operands.size() == 1;
}

}  // namespace

bool is_short_sum(const ir::Model& model, const ops::Inference& inference, ir::NodeId node, int64_t most_bytes) {
  if (!is_collective(model, node) || inference.callees()[node].op == nullptr) return false;
  const std::optional<TensorDesc> made = find_desc(model, inference, model[node].results[0]);
  if (!made || !is_short_float(made->dtype) || static_cast<int64_t>(made->size_bytes()) > most_bytes) return false;
  const ops::Node facts = node_facts(model, inference, node);
  return facts.string("collective_operation") == "all_reduce" && facts.string("reduce_op") == "sum";
}

void exchange_halves(ir::Model& model, ir::Rewriter& rewriter) {
  std::vector<ir::NodeId> collectives;
  for (const ir::NodeId node : ir::nodes(model, model.main_graph())) {
    if (is_collective(model, node)) collectives.push_back(node);
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
