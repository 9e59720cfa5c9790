#include "passes/outline/repeats.h"

#include <algorithm>
#include <unordered_map>

#include "ir/queries.h"
#include "passes/same.h"

namespace assay::passes {
namespace {

// An operand as a place relative to the occurrence; nothing for what comes from outside.
std::optional<std::pair<size_t, uint32_t>> inner_place(const ir::Model& model, const NodeClasses& classes,
                                                       ir::ValueId value, const match::Repeat& repeat, size_t start) {
  if (!value || !model[value].producer || model[value].graph != model.main_graph()) return std::nullopt;
  const size_t place = classes.place_of(model[value].producer);
  if (place < start || place >= start + repeat.length) return std::nullopt;
  return std::pair(place - start, model[value].index);
}

bool is_wired_alike(const ir::Model& model, const NodeClasses& classes, const match::Repeat& repeat, size_t start) {
  const size_t first = repeat.starts.front();
  for (size_t i = 0; i < repeat.length; ++i) {
    const std::span<const ir::Use> a = model[classes.nodes()[first + i]].operands;
    const std::span<const ir::Use> b = model[classes.nodes()[start + i]].operands;
    for (size_t k = 0; k < a.size(); ++k) {
      if (inner_place(model, classes, a[k].value, repeat, first) !=
          inner_place(model, classes, b[k].value, repeat, start)) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace

bool NodeClasses::is_unique(ir::NodeId node) const {
  const ops::Callee callee = run_.callee(node);
  return !run_.model().bodies(run_.model()[node]).empty() || has_references(run_.model()[node]) || callee.function ||
         !callee.schema || !callee.schema->deterministic;
}

uint64_t NodeClasses::hash_of(ir::NodeId id) const {
  const ir::Node& node = run_.model()[id];
  uint64_t hash = mix(mix(node.op.index, node.domain.index), node.overload.index);
  for (const ir::Use& use : node.operands) hash = mix(hash, use.value.valid());
  for (const ir::ValueId value : node.results) hash = mix(hash, value.valid());
  for (const ir::Attribute& attribute : node.attributes) hash = mix(hash, passes::hash(run_.model(), attribute));
  return hash;
}

bool NodeClasses::is_same(ir::NodeId left, ir::NodeId right) const {
  const ir::Model& model = run_.model();
  const ir::Node& a = model[left];
  const ir::Node& b = model[right];
  return a.op == b.op && a.domain == b.domain && a.overload == b.overload &&
         std::ranges::equal(
             a.operands, b.operands, {}, [](const ir::Use& use) { return use.value.valid(); },
             [](const ir::Use& use) { return use.value.valid(); }) &&
         std::ranges::equal(a.results, b.results, {}, &ir::ValueId::valid, &ir::ValueId::valid) &&
         std::ranges::equal(a.attributes, b.attributes, [&](const ir::Attribute& x, const ir::Attribute& y) {
           return passes::is_same(model, x, y);
         });
}

NodeClasses::NodeClasses(PassRun& run) : run_(run), places_(run.model().node_slots(), 0) {
  std::unordered_map<uint64_t, std::vector<size_t>> first_places;  // by hash: one of each class
  uint32_t next = 0;
  for (const ir::NodeId node : ir::nodes(run.model(), run.model().main_graph())) {
    const size_t place = nodes_.size();
    places_[node.index] = place;
    nodes_.push_back(node);
    classes_.push_back(next);
    if (is_unique(node)) {
      ++next;
      continue;
    }
    std::vector<size_t>& known = first_places[hash_of(node)];
    const auto like = std::ranges::find_if(known, [&](size_t other) { return is_same(nodes_[other], node); });
    if (like != known.end()) classes_.back() = classes_[*like];
    if (like == known.end()) {
      known.push_back(place);
      ++next;
    }
  }
}

void keep_same_wiring(const ir::Model& model, const NodeClasses& classes, match::Repeat& repeat) {
  const size_t first = repeat.starts.front();
  std::erase_if(repeat.starts,
                [&](size_t start) { return start != first && !is_wired_alike(model, classes, repeat, start); });
}

}  // namespace assay::passes
