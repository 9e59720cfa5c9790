#include "engine/lowering/chains_first.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <vector>

#include "engine/layers/element_op.h"
#include "engine/layers/elementwise.h"
#include "engine/layers/layer.h"
#include "engine/layers/quantization.h"
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
    for (const NodeId node : ir::nodes(model_, model_.main_graph())) {
      if (is_move(node)) moves_.insert(node);
    }
    for (const NodeId last : moves_) {
      const std::vector<NodeId> before = moves_to(last);
      const std::vector<NodeId> chain = before.empty() ? std::vector<NodeId>() : chain_of(model_[last].results[0]);
      if (!std::ranges::any_of(chain, [this](NodeId node) { return is_function(node); })) continue;
      if (!commit(before, chain)) return;
    }
  }

 private:
  bool is_move(NodeId node) const {
    const ops::Traits& traits = ops::traits(model_, node);
    const bool is_move = traits.is_reshape() || traits.moves == ops::Moves::by_dims;
    return is_move && model_.text(model_[node].domain).empty() && inference_.callees()[node].op != nullptr;
  }

  // True if a node moves elements, and was there at first.
  bool is_known(NodeId node) const { return moves_.contains(node); }

  // The nodes that move the result of a product or a convolution until this one gives it, which is the first; empty:
  // something else gives it, or others read what is in between.
  std::vector<NodeId> moves_to(NodeId last) const {
    std::vector<NodeId> moves;
    NodeId node = last;
    for (; is_known(node); node = producer(model_[node].operands[0].value)) moves.push_back(node);
    const bool is_product = node.valid() && ops::traits(model_, node).product != ops::ProductKind::other;
    return is_product ? moves : std::vector<NodeId>();
  }

  // The producer of a value that one node uses.
  NodeId producer(ValueId value) const {
    const bool is_result = value.valid() && model_[value].kind == ir::ValueKind::result &&
                           model_[value].graph == model_.main_graph() && only_user(model_, value).valid();
    return is_result ? model_[value].producer : NodeId{};
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

  // False: the last step is done.
  bool commit(const std::vector<NodeId>& moves, const std::vector<NodeId>& chain) {
    ir::Patch patch;
    std::unordered_map<ValueId, PatchValue> made = {
        {model_[moves.front()].results[0], model_[moves.back()].operands[0].value}};
    PatchValue value;
    for (const NodeId node : chain) {
      std::vector<PatchValue> operands;
      for (const ir::Use& use : model_[node].operands) {
        const auto found = made.find(use.value);
        operands.push_back(found != made.end() ? found->second : PatchValue(use.value));
      }
      value = made[model_[node].results[0]] = add_like(patch, node, std::move(operands));
    }
    for (size_t i = moves.size(); i-- > 0;) {
      std::vector<PatchValue> operands = {value};
      for (const ir::Use& use : model_[moves[i]].operands.subspan(1)) operands.emplace_back(use.value);
      value = add_like(patch, moves[i], std::move(operands));
    }
    patch.replace(model_[chain.back()].results[0], value);
    for (size_t i = chain.size(); i-- > 0;) patch.remove(chain[i]);
    for (const NodeId node : moves) patch.remove(node);
    return rewriter_.commit("{0} where its operand is computed, before it is moved", patch);
  }

  PatchValue add_like(ir::Patch& patch, NodeId node, std::vector<PatchValue> operands) const {
    const std::span<const ir::Attribute> attributes = model_[node].attributes;
    return patch.add({.op = model_.text(model_[node].op),
                      .name = model_[node].name,
                      .operands = std::move(operands),
                      .attributes = {attributes.begin(), attributes.end()}});
  }

  static constexpr size_t kMostNodes = 16;

  ir::Model& model_;
  ir::Rewriter& rewriter_;
  ops::Inference inference_;
  std::set<NodeId> moves_;
};

}  // namespace

void chains_first(ir::Model& model, ir::Rewriter& rewriter) { ChainMover(model, rewriter).run(); }

}  // namespace assay::engine
