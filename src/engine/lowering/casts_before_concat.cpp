#include "engine/lowering/casts_before_concat.h"

#include <algorithm>
#include <vector>

#include "engine/layers/concat_place.h"
#include "engine/layers/elementwise.h"
#include "engine/lowering/moves.h"
#include "engine/lowering/quantized_groups.h"
#include "ir/queries.h"
#include "ops/traits.h"

namespace assay::engine {
namespace {

using ir::NodeId;
using ir::PatchValue;
using ir::ValueId;

class CastMover {
 public:
  CastMover(ir::Model& model, ir::Rewriter& rewriter) : model_(model), rewriter_(rewriter), inference_(model) {
    inference_.run();
  }

  void run() {
    std::vector<NodeId> casts;
    for (const NodeId node : ir::nodes(model_, model_.main_graph())) {
      if (ops::traits(model_, node).is_cast() && inference_.callees()[node].op != nullptr) casts.push_back(node);
    }
    for (const NodeId cast : casts) {
      const NodeId concat = producer_for_one(model_, model_[cast].operands[0].value);
      if (!concat.valid() || !is_concat(model_, concat) || !has_whole_parts(concat)) continue;
      if (!move(cast, concat)) return;
    }
  }

 private:
  bool has_whole_parts(NodeId concat) const {
    const std::optional<Layer> layer = find_layer(model_, inference_, concat);
    if (!layer || layer->outputs[0].count() == 0) return false;
    for (size_t i = 0; i < layer->inputs.size(); ++i) {
      if (!is_dense(operand_place(*layer, i, Layout::plain).part)) return false;
    }
    return true;
  }

  // False: the last step is done.
  bool move(NodeId cast, NodeId concat) {
    ir::Patch patch;
    std::vector<PatchValue> operands;
    std::vector<NodeId> removed = {cast, concat};
    for (const ir::Use& use : model_[concat].operands) {
      const auto [moves, maker] = moved_value(model_, use.value);
      if (!maker.valid() || !is_elementwise(inference_, model_, maker)) return true;
      const ValueId computed = moves.empty() ? use.value : model_[moves.back()].operands[0].value;
      operands.push_back(add_moves(patch, model_, moves, add_like(patch, model_, cast, {computed})));
      removed.insert(removed.end(), moves.begin(), moves.end());
    }
    patch.replace(model_[cast].results[0], add_like(patch, model_, concat, std::move(operands)));
    for (const NodeId node : removed) patch.remove(node);
    return rewriter_.commit("{0} where the parts of a Concat are computed", patch);
  }

  ir::Model& model_;
  ir::Rewriter& rewriter_;
  ops::Inference inference_;
};

}  // namespace

void cast_before_concat(ir::Model& model, ir::Rewriter& rewriter) { CastMover(model, rewriter).run(); }

}  // namespace assay::engine
