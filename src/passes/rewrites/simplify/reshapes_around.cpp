// Before: elementwise nodes between Reshapes: x[2,3,4] -> Reshape to [6,4] -> Relu, Mul, ... -> Reshape to [2,3,4].
// After:  the elementwise nodes alone, on values of the shape before.
// Only if: everything that they take and give is so reshaped, from one shape and back to it; constants are of one
//         element, or of the size of a last dim that both shapes have; nothing else uses what is between, and all of
//         it is few nodes.
#include <algorithm>
#include <array>
#include <ranges>
#include <unordered_map>
#include <unordered_set>

#include "ir/queries.h"
#include "match/uses.h"
#include "passes/elementwise.h"
#include "passes/inferred.h"
#include "passes/reshapes.h"
#include "passes/rules.h"

namespace assay::passes {
namespace {

using ir::NodeId;
using ir::PatchValue;
using ir::ValueId;

constexpr size_t kMostNodes = 200;

struct Context {
  PassRun& run;
  Inferred inferred;
};

// The elementwise nodes that hang together before one Reshape.
class Region {
 public:
  Region(Context& context, NodeId end)
      : context_(context),
        model_(context.run.model()),
        end_(end),
        graph_(model_[end].graph),
        inside_(operand(model_, end, 0)),
        outside_(result(model_, end)) {}

  // Finds all of it; whether it can be computed in the shape outside.
  bool grow();
  ir::Patch patch() const;

 private:
  bool add(NodeId node);
  bool grow_to_operands(NodeId node);
  bool grow_to_users(NodeId node);
  bool is_end(NodeId node, ValueId value) const;
  bool has_one_end_each() const;
  bool is_in_order() const;
  bool broadcasts_in_both(ValueId constant) const;
  bool is_start(NodeId node) const;
  PatchValue outside(ValueId value, const std::unordered_map<ValueId, PatchValue>& made) const;
  bool is_free(NodeId start) const;

  Context& context_;
  const ir::Model& model_;
  NodeId end_;  // the last
  ir::GraphId graph_;
  ValueId inside_;   // a value of the shape between
  ValueId outside_;  // one of the shape around
  std::vector<NodeId> nodes_, starts_, ends_;
  std::unordered_set<NodeId> known_;  // of all three
};

bool Region::add(NodeId node) {
  if (model_[node].graph != graph_ || known_.size() >= kMostNodes) return false;
  if (known_.insert(node).second) nodes_.push_back(node);
  return true;
}

bool Region::is_start(NodeId node) const {
  return is_reshape(context_.run, node) && model_[node].graph == graph_ &&
         context_.inferred.is_same_shape(operand(model_, node, 0), outside_);
}

bool Region::is_end(NodeId node, ValueId value) const {
  return is_reshape(context_.run, node) && operand(model_, node, 0) == value && operand(model_, node, 1) != value &&
         model_[node].graph == graph_ && context_.inferred.is_same_shape(result(model_, node), outside_);
}

bool Region::broadcasts_in_both(ValueId value) const {
  const tensor::Tensor* constant = context_.run.constant(value);
  const ops::Dims* inner = context_.inferred.dims(inside_);
  const ops::Dims* outer = context_.inferred.dims(outside_);
  if (!constant || !inner || !outer) return false;
  const tensor::Shape& shape = constant->shape();
  if (shape.size() > std::min(inner->size(), outer->size())) return false;
  if (constant->count() == 1) return true;
  // All but the last of its dims are 1.
  const ops::Dim width(shape.back());
  return constant->count() == static_cast<uint64_t>(shape.back()) && inner->back().equals(width) &&
         outer->back().equals(width);
}

bool Region::grow_to_operands(NodeId node) {
  bool is_whole = false;  // an operand has as many elements as the result
  for (const ir::Use& use : model_[node].operands) {
    if (!use.value || broadcasts_in_both(use.value)) continue;
    if (!context_.inferred.is_same_shape(use.value, inside_)) return false;
    is_whole = true;
    const NodeId made = producer(model_, use.value);
    if (known_.contains(made)) continue;
    if (known_.size() < kMostNodes && is_start(made)) {
      starts_.push_back(made);
      known_.insert(made);
    } else if (!is_elementwise(context_.run, made) || !add(made)) {
      return false;
    }
  }
  return is_whole;
}

bool Region::grow_to_users(NodeId node) {
  const ValueId value = result(model_, node);
  if (!match::is_first_result_enough(model_, node)) return false;
  for (const ir::Use& use : ir::uses(model_, value)) {
    if (known_.contains(use.user)) continue;
    if (known_.size() < kMostNodes && is_end(use.user, value)) {
      ends_.push_back(use.user);
      known_.insert(use.user);
    } else if (!is_elementwise(context_.run, use.user) || !add(use.user)) {
      return false;
    }
  }
  return true;
}

// A value can take the place of one output only, and of values of one type.
bool Region::has_one_end_each() const {
  std::unordered_map<ValueId, ValueId> first;
  for (const NodeId end : ends_) {
    const ValueId value = result(model_, end);
    const auto [known, is_new] = first.try_emplace(operand(model_, end, 0), value);
    if (is_new) continue;
    if (is_output(model_, value) || is_output(model_, known->second)) return false;
    if (model_[value].type != model_[known->second].type) return false;
  }
  return true;
}

// True if all operands of the nodes are there before the first of the ends, and nothing stands behind the last.
bool Region::is_in_order() const {
  const auto is_before = [&](NodeId a, NodeId b) { return model_.is_before(a, b); };
  const auto is_not_behind = [&](NodeId node) { return !is_before(end_, node); };
  if (!std::ranges::all_of(ends_, is_not_behind) || !std::ranges::all_of(nodes_, is_not_behind)) return false;
  const NodeId first = *std::ranges::min_element(ends_, is_before);
  const auto is_there = [&](ValueId value) {
    const NodeId made = producer(model_, value);
    return !made || model_[made].graph != graph_ || is_before(made, first);
  };
  for (const NodeId start : starts_) {
    if (!is_there(operand(model_, start, 0))) return false;
  }
  return std::ranges::all_of(nodes_, [&](NodeId node) {
    return std::ranges::all_of(model_[node].operands, [&](const ir::Use& use) {
      return !use.value || known_.contains(producer(model_, use.value)) || is_there(use.value);
    });
  });
}

bool Region::grow() {
  const ir::NodeId last = producer(model_, inside_);
  if (!outside_ || !is_elementwise(context_.run, last) || !add(last)) return false;
  if (context_.inferred.is_same_shape(inside_, outside_)) return false;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const NodeId node = nodes_[i];
    if (!context_.inferred.is_same_shape(result(model_, node), inside_)) return false;
    if (!grow_to_operands(node) || !grow_to_users(node)) return false;
  }
  return has_one_end_each() && is_in_order();
}

// The value in the shape outside.
PatchValue Region::outside(ValueId value, const std::unordered_map<ValueId, PatchValue>& made) const {
  const auto found = made.find(value);
  if (found != made.end()) return found->second;
  const NodeId start = producer(model_, value);
  return start && known_.contains(start) ? operand(model_, start, 0) : value;
}

bool Region::is_free(NodeId start) const {
  for (const ir::Use& use : ir::uses(model_, result(model_, start))) {
    if (!known_.contains(use.user)) return false;
  }
  return true;
}

ir::Patch Region::patch() const {
  const auto is_before = [&](NodeId a, NodeId b) { return model_.is_before(a, b); };
  std::vector<NodeId> nodes = nodes_;
  std::ranges::sort(nodes, is_before);
  ir::Patch patch;
  patch.insert_before(*std::ranges::min_element(ends_, is_before));
  std::unordered_map<ValueId, PatchValue> made;
  for (const NodeId node : nodes) {
    const ir::Node& facts = model_[node];
    ir::PatchNode moved{.op = model_.text(facts.op), .domain = model_.text(facts.domain), .name = facts.name};
    for (const ir::Use& use : facts.operands) moved.operands.push_back(outside(use.value, made));
    moved.attributes = {facts.attributes.begin(), facts.attributes.end()};
    made[result(model_, node)] = patch.add(std::move(moved));
  }
  for (const NodeId end : ends_) {
    patch.replace(result(model_, end), made.at(operand(model_, end, 0)));
    patch.remove(end);
  }
  for (const NodeId node : std::views::reverse(nodes)) patch.remove(node);
  for (const NodeId start : starts_) {
    if (is_free(start)) patch.remove(start);
  }
  return patch;
}

void unwrap(Context& context, NodeId node) {
  if (!is_reshape(context.run, node)) return;
  Region region(context, node);
  if (region.grow()) context.run.rewriter().commit("elementwise between opposite Reshapes", region.patch());
}

// Again where one region that went has joined two others; what is new is inferred anew.
void remove_reshapes_around(PassRun& run) {
  constexpr int kMostRounds = 10;
  const auto rules = rules_of<Context>([](const ops::Traits& traits) { return traits.is_reshape(); }, unwrap);
  for (int round = 0; round < kMostRounds; ++round) {
    const size_t steps = run.rewriter().steps().size();
    Context context{run, Inferred(run)};
    apply_rules(run, context, rules);
    if (run.rewriter().steps().size() == steps) break;
  }
}

}  // namespace

Pass pass_simplify_reshapes_around() {
  return {.name = "remove-reshapes-around",
          .summary = "remove pairs of opposite Reshapes around elementwise nodes",
          .run = remove_reshapes_around};
}

}  // namespace assay::passes
