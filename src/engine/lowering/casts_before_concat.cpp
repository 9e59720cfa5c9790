#include "engine/lowering/casts_before_concat.h"

#include <algorithm>
#include <vector>

#include "engine/layers/concat_place.h"
#include "engine/layers/elementwise.h"
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
      const NodeId concat = producer(model_[cast].operands[0].value);
      if (!concat.valid() || !is_concat(concat) || !has_whole_parts(concat)) continue;
      if (!move(cast, concat)) return;
    }
  }

 private:
  bool is_concat(NodeId node) const {
    const ops::Traits& traits = ops::traits(model_, node);
    return traits.is(ops::Nature::movement) && traits.range == ops::ValueRange::all;
  }

  bool is_move(NodeId node) const {
    const ops::Traits& traits = ops::traits(model_, node);
    const bool is_move = traits.is_reshape() || traits.moves == ops::Moves::by_dims;
    return is_move && model_.text(model_[node].domain).empty();
  }

  // The producer of a value that one node uses.
  NodeId producer(ValueId value) const {
    const bool is_result = value.valid() && model_[value].kind == ir::ValueKind::result &&
                           model_[value].graph == model_.main_graph() && only_user(model_, value).valid();
    return is_result ? model_[value].producer : NodeId{};
  }

  bool has_whole_parts(NodeId concat) const {
    const std::optional<Layer> layer = find_layer(model_, inference_, concat);
    if (!layer || layer->outputs[0].count() == 0) return false;
    for (size_t i = 0; i < layer->inputs.size(); ++i) {
      if (!is_dense(operand_place(*layer, i, Layout::plain).part)) return false;
    }
    return true;
  }

  // The nodes that move an operand after it has been computed, the last one first; nullopt: it is not computed element
  // by element.
  std::optional<std::vector<NodeId>> moves_of(ValueId operand) const {
    std::vector<NodeId> moves;
    NodeId node = producer(operand);
    while (node.valid() && is_move(node)) {
      moves.push_back(node);
      node = producer(model_[node].operands[0].value);
    }
    return node.valid() && is_elementwise(inference_, model_, node) ? std::optional(moves) : std::nullopt;
  }

  // False: the last step is done.
  bool move(NodeId cast, NodeId concat) {
    ir::Patch patch;
    std::vector<PatchValue> operands;
    std::vector<NodeId> removed = {cast, concat};
    for (const ir::Use& use : model_[concat].operands) {
      const std::optional<std::vector<NodeId>> moves = moves_of(use.value);
      if (!moves) return true;
      const ValueId computed = moves->empty() ? use.value : model_[moves->back()].operands[0].value;
      PatchValue value = add_like(patch, cast, {computed});
      for (size_t i = moves->size(); i-- > 0;) value = add_moved(patch, (*moves)[i], value);
      operands.push_back(value);
      removed.insert(removed.end(), moves->begin(), moves->end());
    }
    patch.replace(model_[cast].results[0], add_like(patch, concat, std::move(operands)));
    for (const NodeId node : removed) patch.remove(node);
    return rewriter_.commit("{0} where the parts of a Concat are computed", patch);
  }

  PatchValue add_moved(ir::Patch& patch, NodeId move, PatchValue value) const {
    std::vector<PatchValue> operands = {value};
    for (const ir::Use& use : model_[move].operands.subspan(1)) operands.emplace_back(use.value);
    return add_like(patch, move, std::move(operands));
  }

  PatchValue add_like(ir::Patch& patch, NodeId node, std::vector<PatchValue> operands) const {
    const std::span<const ir::Attribute> attributes = model_[node].attributes;
    return patch.add({.op = model_.text(model_[node].op),
                      .operands = std::move(operands),
                      .attributes = {attributes.begin(), attributes.end()}});
  }

  ir::Model& model_;
  ir::Rewriter& rewriter_;
  ops::Inference inference_;
};

}  // namespace

void cast_before_concat(ir::Model& model, ir::Rewriter& rewriter) { CastMover(model, rewriter).run(); }

}  // namespace assay::engine
