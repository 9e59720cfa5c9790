#include "engine/program/find_parts.h"

#include <algorithm>
#include <map>

#include "engine/layers/layer.h"
#include "ir/walk.h"
#include "ops/traits.h"

namespace assay::engine {
namespace {

using ir::NodeId;

bool is_random(const ops::Inference& inference, NodeId node) {
  const ops::Operator* const op = inference.callees()[node].op;
  return op != nullptr && op->is_random;
}

// Numbers the nodes so that those of a part have the same stage, what it needs a lower one, and what needs it a higher.
class Stages {
 public:
  Stages(const ir::Model& model, const ops::Inference& inference, const std::set<NodeId>& kept)
      : model_(model), inference_(inference), kept_(kept) {
    for (const NodeId node : ir::nodes(model, model.main_graph())) nodes_.push_back(node);
    mark();
  }

  bool has_inner() const { return !inner_.empty(); }

  // Nodes that stand for themselves are between the stages of parts.
  std::vector<Unit> units() {
    for (const NodeId node : nodes_) number(node);
    std::map<int, std::vector<Unit>> by_stage;
    std::map<NodeId, size_t> first;  // units by the first of their nodes
    const std::map<NodeId, NodeId> leaders = connect();
    for (const NodeId node : nodes_) {
      std::vector<Unit>& units = by_stage[stage_.at(node)];
      const NodeId leader = is_inner(node) ? leaders.at(node) : node;
      const auto [known, is_new] = first.try_emplace(leader, units.size());
      if (is_new) units.emplace_back();
      units[known->second].nodes.push_back(node);
      if (is_inner(node) && has_work(inference_, node)) units[known->second].is_part = true;
    }
    return split(by_stage);
  }

 private:
  // Nodes of what is no part stand for themselves.
  static std::vector<Unit> split(std::map<int, std::vector<Unit>>& by_stage) {
    std::vector<Unit> all;
    for (auto& [stage, units] : by_stage) {
      for (Unit& unit : units) {
        if (unit.is_part) {
          all.push_back(std::move(unit));
          continue;
        }
        for (const NodeId node : unit.nodes) all.push_back({.nodes = {node}});
      }
    }
    return all;
  }

  bool is_inner(NodeId node) const { return inner_.contains(node); }

  bool has_size(ir::ValueId value) const {
    return !value.valid() || model_[value].kind == ir::ValueKind::initializer ||
           find_desc(model_, inference_, value).has_value();
  }

  // Some size that it reads is not known.
  bool is_late(NodeId node) const {
    return !std::ranges::all_of(model_[node].operands, [&](const ir::Use& use) { return has_size(use.value); });
  }

  // A part may run it, and it does not decide sizes.
  bool may_be_inner(NodeId node) const {
    const ir::Node& facts = model_[node];
    if (kept_.contains(node) || is_random(inference_, node) || !model_.bodies(facts).empty()) return false;
    if (ops::traits(model_, node).counts_elements) return false;
    const auto is_plain = [&](ir::ValueId value) {
      const ops::Type& type = inference_.type(value);
      return !value.valid() || model_[value].kind == ir::ValueKind::initializer ||
             (type.is_tensor() && tensor::bit_width(type.dtype) >= 8);
    };
    return std::ranges::all_of(facts.operands, [&](const ir::Use& use) { return is_plain(use.value); }) &&
           std::ranges::all_of(facts.results, is_plain);
  }

  template <typename Fn>
  void for_each_producer(NodeId node, Fn&& fn) const {
    ir::for_each_operand(model_, node, [&](ir::ValueId value) {
      const NodeId producer = model_[value].producer;
      if (producer.valid() && model_[producer].graph == model_.main_graph()) fn(producer);
    });
  }

  // Nodes without sizes, and those on the way from one to another.
  void mark() {
    std::set<NodeId> late;
    std::set<NodeId> behind;
    std::set<NodeId> before;
    for (const NodeId node : nodes_) {
      if (is_late(node) && may_be_inner(node)) late.insert(node);
      for_each_producer(node, [&](NodeId producer) {
        if (late.contains(producer) || behind.contains(producer)) behind.insert(node);
      });
    }
    for (const NodeId node : std::vector<NodeId>(nodes_.rbegin(), nodes_.rend())) {
      const bool is_needed = late.contains(node) || before.contains(node);
      for_each_producer(node, [&](NodeId producer) {
        if (is_needed) before.insert(producer);
      });
    }
    for (const NodeId node : nodes_) {
      const bool is_within = late.contains(node) || (behind.contains(node) && before.contains(node));
      if (is_within && may_be_inner(node)) inner_.insert(node);
    }
  }

  // Even: of parts; odd: of what stands behind them. Random nodes stay in their order.
  void number(NodeId node) {
    int stage = is_inner(node) ? 0 : -1;
    const auto follow = [&](NodeId producer) {
      const int known = stage_.at(producer);
      if (is_inner(node)) stage = std::max(stage, is_inner(producer) ? known : known + 1);
      if (!is_inner(node)) stage = std::max(stage, is_inner(producer) ? known + 1 : known);
    };
    for_each_producer(node, follow);
    const bool draws = is_random(inference_, node) || !model_.bodies(model_[node]).empty();
    if (draws && last_random_.valid()) follow(last_random_);
    if (draws) last_random_ = node;
    stage_[node] = stage;
  }

  // The first of the nodes that are connected within a stage, by node.
  std::map<NodeId, NodeId> connect() const {
    std::map<NodeId, NodeId> leaders;
    const auto leader = [&](NodeId node) {
      while (leaders.at(node) != node) node = leaders.at(node);
      return node;
    };
    for (const NodeId node : nodes_) {
      if (!is_inner(node)) continue;
      leaders[node] = node;
      for_each_producer(node, [&](NodeId producer) {
        if (!is_inner(producer) || stage_.at(producer) != stage_.at(node)) return;
        leaders[leader(node)] = leader(producer);
      });
    }
    for (auto& [node, known] : leaders) known = leader(node);
    return leaders;
  }

  const ir::Model& model_;
  const ops::Inference& inference_;
  const std::set<NodeId>& kept_;
  std::vector<NodeId> nodes_;
  std::set<NodeId> inner_;
  std::map<NodeId, int> stage_;
  NodeId last_random_;
};

}  // namespace

bool has_work(const ops::Inference& inference, NodeId node) {
  const ops::Operator* const op = inference.callees()[node].op;
  if (op == nullptr) return false;
  return op->macs != nullptr || op->work != nullptr || op->traits.is(ops::Nature::normalization);
}

std::vector<Unit> find_units(const ir::Model& model, const ops::Inference& inference, const std::set<NodeId>& kept) {
  Stages stages(model, inference, kept);
  std::vector<Unit> units;
  if (stages.has_inner()) units = stages.units();
  if (std::ranges::any_of(units, &Unit::is_part)) return units;
  units.clear();
  for (const NodeId node : ir::nodes(model, model.main_graph())) units.push_back({.nodes = {node}});
  return units;
}

}  // namespace assay::engine
