#include "engine/lowering/chains_first.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <vector>

#include "engine/layers/element_op.h"
#include "engine/layers/elementwise.h"
#include "engine/layers/layer.h"
#include "engine/layers/quantization.h"
#include "engine/lowering/moves.h"
#include "ir/queries.h"
#include "ops/traits.h"

namespace assay::engine {
namespace {

using ir::NodeId;
using ir::PatchValue;
using ir::ValueId;

class ChainMover {
 public:
  ChainMover(ir::Model& model, ir::Rewriter& rewriter) : model_(model), rewriter_(rewriter), inference_(model) {
    inference_.run();
  }

  void run() {
    std::vector<NodeId> all, joints;
    for (const NodeId node : ir::nodes(model_, model_.main_graph())) {
      if (is_move(model_, node)) all.push_back(node);
      if (joins_products(node)) joints.push_back(node);
    }
    for (const NodeId joint : joints) {
      const std::vector<NodeId> chain = function_behind(joint);
      if (!chain.empty() && !commit_parts(joint, chain)) return;
    }
    for (const NodeId last : all) {
      Moved moved = moved_value(model_, model_[last].operands[0].value);
      if (!moved.maker.valid() || ops::traits(model_, moved.maker).product == ops::ProductKind::other) continue;
      moved.moves.insert(moved.moves.begin(), last);
      const std::vector<NodeId> chain = function_behind(last);
      if (!chain.empty() && !commit(moved.moves, chain)) return;
    }
  }

 private:
  // True for a Concat of what products make, and nothing else reads.
  bool joins_products(NodeId node) const {
    constexpr size_t kMostParts = 8;
    if (!is_concat(model_, node)) return false;
    const std::span<const ir::Use> operands = model_[node].operands;
    return operands.size() > 1 && operands.size() <= kMostParts &&
           std::ranges::all_of(operands, [&](const ir::Use& use) {
             const NodeId maker = producer_for_one(model_, use.value);
             return maker.valid() && ops::traits(model_, maker).product != ops::ProductKind::other;
           });
  }

  // The chain of what a node gives; empty: it is none that products take.
  std::vector<NodeId> function_behind(NodeId node) const {
    std::vector<NodeId> chain = chain_of(model_[node].results[0]);
    if (std::ranges::none_of(chain, [this](NodeId link) { return is_function(link); })) chain.clear();
    return chain;
  }

  // The nodes that compute elements of a value with nothing but single numbers, up to one whose result alone is used
  // by others.
  std::vector<NodeId> chain_of(ValueId given) const {
    std::vector<NodeId> found, nodes;
    std::set<ValueId> known = {given};
    std::set<std::pair<uint64_t, NodeId>> open;  // in the order of the graph
    ValueId last = given;
    while (nodes.size() < kMostNodes && add_users(last, open) && !open.empty()) {
      const NodeId next = open.begin()->second;
      open.erase(open.begin());
      if (!is_link(next, inference_.type(given).dtype, known)) break;
      nodes.push_back(next);
      last = model_[next].results[0];
      known.insert(last);
      if (open.empty()) found = nodes;
    }
    return found;
  }

  // False: the value is an output, or a body uses it.
  bool add_users(ValueId value, std::set<std::pair<uint64_t, NodeId>>& users) const {
    for (const ir::Use& use : ir::uses(model_, value)) {
      if (model_[use.user].is_outputs || model_[use.user].graph != model_.main_graph()) return false;
      users.emplace(model_[use.user].order, use.user);
    }
    return true;
  }

  bool is_link(NodeId node, tensor::DType dtype, const std::set<ValueId>& known) const {
    if (!is_elementwise(inference_, model_, node) || is_quantizer(model_, inference_, node)) return false;
    if (inference_.type(model_[node].results[0]).dtype != dtype) return false;
    return std::ranges::all_of(model_[node].operands, [&](const ir::Use& use) {
      return !use.value.valid() || known.contains(use.value) || is_number(use.value);
    });
  }

  bool is_number(ValueId value) const {
    const tensor::Tensor* const constant = constant_of(model_, inference_, value);
    return constant != nullptr && constant->count() == 1 && constant->shape().size() < 2;
  }

  // True unless a scale or a sum is all that a node computes: attention takes these where it finds them.
  bool is_function(NodeId node) const {
    const std::optional<ElementOp> op = element_op(model_.text(model_[node].op), inference_.callees()[node].version);
    return op && *op > kLastBinary;
  }

  // The chain of a value, computed from another one.
  PatchValue add_chain(ir::Patch& patch, const std::vector<NodeId>& chain, ValueId given, PatchValue from) const {
    std::unordered_map<ValueId, PatchValue> made = {{given, from}};
    PatchValue value;
    for (const NodeId node : chain) {
      std::vector<PatchValue> operands;
      for (const ir::Use& use : model_[node].operands) {
        const auto found = made.find(use.value);
        operands.push_back(found != made.end() ? found->second : PatchValue(use.value));
      }
      value = made[model_[node].results[0]] = add_like(patch, model_, node, std::move(operands));
    }
    return value;
  }

  // False: the last step is done.
  bool commit_parts(NodeId joint, const std::vector<NodeId>& chain) {
    ir::Patch patch;
    std::vector<PatchValue> parts;
    for (const ir::Use& use : model_[joint].operands)
      parts.push_back(add_chain(patch, chain, model_[joint].results[0], use.value));
    patch.replace(model_[chain.back()].results[0], add_like(patch, model_, joint, std::move(parts)));
    for (size_t i = chain.size(); i-- > 0;) patch.remove(chain[i]);
    patch.remove(joint);
    return rewriter_.commit("{0} where the parts of a Concat are computed", patch);
  }

  // False: the last step is done.
  bool commit(const std::vector<NodeId>& moves, const std::vector<NodeId>& chain) {
    ir::Patch patch;
    const PatchValue value =
        add_moves(patch, model_, moves,
                  add_chain(patch, chain, model_[moves.front()].results[0], model_[moves.back()].operands[0].value));
    patch.replace(model_[chain.back()].results[0], value);
    for (size_t i = chain.size(); i-- > 0;) patch.remove(chain[i]);
    for (const NodeId node : moves) patch.remove(node);
    return rewriter_.commit("{0} where its operand is computed, before it is moved", patch);
  }

  static constexpr size_t kMostNodes = 16;

  ir::Model& model_;
  ir::Rewriter& rewriter_;
  ops::Inference inference_;
};

}  // namespace

void chains_first(ir::Model& model, ir::Rewriter& rewriter) { ChainMover(model, rewriter).run(); }

}  // namespace assay::engine
