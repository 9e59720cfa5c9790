// Before: two nodes that call the same operator with the same operands and attributes.
// After:  the first, whose results stand for those of the second; nodes in bodies reuse those of the graphs around.
// Only if: the operator gives the same every time and has no bodies, and outputs keep their names.
#include <algorithm>
#include <unordered_map>
#include <vector>

#include "ir/queries.h"
#include "passes/pass.h"
#include "passes/same.h"

namespace assay::passes {
namespace {

using ir::GraphId;
using ir::NodeId;

// True if two nodes of one operator have the same operands, attributes and, by place, results.
bool is_same_call(const ir::Model& model, NodeId a, NodeId b) {
  const ir::Node& left = model[a];
  const ir::Node& right = model[b];
  const auto same_operand = [](const ir::Use& x, const ir::Use& y) { return x.value == y.value; };
  const auto same_result = [](ir::ValueId x, ir::ValueId y) { return x.valid() == y.valid(); };
  const auto same_attribute = [&](const ir::Attribute& x) {
    return std::ranges::any_of(right.attributes, [&](const ir::Attribute& y) { return is_same(model, x, y); });
  };
  return left.op == right.op && left.domain == right.domain && left.overload == right.overload &&
         left.attributes.size() == right.attributes.size() &&
         std::ranges::equal(left.operands, right.operands, same_operand) &&
         std::ranges::equal(left.results, right.results, same_result) &&
         std::ranges::all_of(left.attributes, same_attribute);
}

uint64_t hash_call(const ir::Model& model, NodeId id) {
  const ir::Node& node = model[id];
  uint64_t hash = mix(mix(node.op.index, node.domain.index), node.results.size());
  for (const ir::Use& use : node.operands) hash = mix(hash, use.value.index);
  uint64_t attributes = 0;  // in any order
  for (const ir::Attribute& attribute : node.attributes) attributes += passes::hash(model, attribute);
  return mix(hash, attributes);
}

class Merger {
 public:
  explicit Merger(PassRun& run) : run_(run) {}
  void run(GraphId root);

 private:
  // A node that was met; those of one hash are a list, the latest first.
  struct Seen {
    uint64_t hash;
    NodeId node;
    uint32_t earlier;
  };
  struct Level {
    NodeId next;
    size_t seen;  // nodes known when the graph was entered: nodes added since hold only within it
  };

  void enter(GraphId graph) { levels_.push_back({run_.model()[graph].first, seen_.size()}); }
  void leave();
  void visit(NodeId node);
  bool is_repeatable(NodeId node);
  bool merge(NodeId node, NodeId first);

  PassRun& run_;
  static constexpr uint32_t kNone = UINT32_MAX;
  std::vector<Level> levels_;
  std::vector<Seen> seen_;  // of all levels
  std::unordered_map<uint64_t, uint32_t> latest_;
};

// Bodies are walked when their node is met: what stands before it is known, and holds for them too.
void Merger::run(GraphId root) {
  enter(root);
  while (!levels_.empty() && !run_.rewriter().is_done()) {
    const NodeId node = levels_.back().next;
    if (!node) {
      leave();
      continue;
    }
    levels_.back().next = run_.model()[node].next;
    visit(node);
    if (!run_.model()[node].alive) continue;
    for (const GraphId body : run_.model().bodies(run_.model()[node])) enter(body);
  }
}

void Merger::leave() {
  for (; seen_.size() > levels_.back().seen; seen_.pop_back()) latest_[seen_.back().hash] = seen_.back().earlier;
  levels_.pop_back();
}

bool Merger::is_repeatable(NodeId node) {
  const ops::Callee callee = run_.callee(node);
  if (callee.function || !callee.schema || !callee.schema->deterministic) return false;
  if (callee.op && callee.op->is_random) return false;
  return run_.model().bodies(run_.model()[node]).empty();
}

bool Merger::merge(NodeId node, NodeId first) {
  const ir::Model& model = run_.model();
  ir::Patch patch;
  for (uint32_t i = 0; i < model[node].results.size(); ++i) {
    const ir::ValueId old = result(model, node, i);
    if (!old || !model[old].first_use) continue;
    if (!run_.rewriter().can_replace(old, result(model, first, i))) return false;
    patch.replace(old, result(model, first, i));
  }
  patch.remove(node);
  return run_.rewriter().commit("computed before", patch);
}

void Merger::visit(NodeId node) {
  constexpr int kMostTried = 8;
  if (!is_repeatable(node)) return;
  const uint64_t hash = hash_call(run_.model(), node);
  uint32_t& latest = latest_.try_emplace(hash, kNone).first->second;
  int tried = 0;
  for (uint32_t i = latest; i != kNone && tried < kMostTried; i = seen_[i].earlier, ++tried) {
    if (is_same_call(run_.model(), seen_[i].node, node) && merge(node, seen_[i].node)) return;
  }
  seen_.push_back({hash, node, latest});
  latest = static_cast<uint32_t>(seen_.size() - 1);
}

void merge_duplicates(PassRun& run) {
  Merger merger(run);
  merger.run(run.model().main_graph());
  for (const ir::Function& function : run.model().functions()) merger.run(function.body);
}

}  // namespace

Pass pass_simplify_merge_duplicates() {
  return {.name = "merge-duplicates", .summary = "compute the same only once", .run = merge_duplicates};
}

}  // namespace assay::passes
