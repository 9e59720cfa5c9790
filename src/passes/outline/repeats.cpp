#include "passes/outline/repeats.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "ir/queries.h"
#include "passes/same.h"

namespace assay::passes {
namespace {

constexpr size_t kMostDistances = 24;  // that are tried, the most frequent first

// Distances between the same classes, from one to the next.
std::vector<size_t> frequent_distances(const NodeClasses& classes) {
  std::unordered_map<uint32_t, size_t> last;
  std::map<size_t, size_t> counts;
  for (size_t i = 0; i < classes.nodes().size(); ++i) {
    const auto [entry, is_new] = last.try_emplace(classes[i], i);
    if (!is_new) ++counts[i - entry->second];
    entry->second = i;
  }
  std::vector<std::pair<size_t, size_t>> ordered(counts.begin(), counts.end());
  std::ranges::stable_sort(ordered, std::ranges::greater(), [](const auto& item) { return item.second; });
  std::vector<size_t> distances;
  for (const auto& [distance, count] : ordered) {
    if (distances.size() < kMostDistances) distances.push_back(distance);
  }
  return distances;
}

size_t saving(const Repeat& repeat) {
  return (repeat.starts.size() - 1) * repeat.length - std::min(repeat.starts.size(), repeat.length);
}

// Occurrences at one distance from each other, as long and as many as they get.
void add_repeats(const NodeClasses& classes, size_t distance, const OutlineOptions& options,
                 std::vector<Repeat>& repeats) {
  const size_t count = classes.nodes().size();
  std::vector<size_t> same(count + 1, 0);  // number of classes from here on that equal those at the distance
  for (size_t i = count - distance; i-- > 0;) same[i] = classes[i] == classes[i + distance] ? same[i + 1] + 1 : 0;
  for (size_t i = 0; i + distance < count; ++i) {
    const bool is_first = same[i] > 0 && (i == 0 || same[i - 1] == 0);
    if (!is_first) continue;
    Repeat repeat = {.starts = {i}, .length = std::min(same[i], distance)};
    if (repeat.length < options.least_nodes) continue;
    for (size_t at = i; at + distance < count && same[at] >= repeat.length; at += distance) {
      repeat.starts.push_back(at + distance);
    }
    if (repeat.starts.size() >= options.least_count) repeats.push_back(std::move(repeat));
  }
}

// An operand as a place relative to the occurrence; nothing for what comes from outside.
std::optional<std::pair<size_t, uint32_t>> inner_place(const ir::Model& model, const NodeClasses& classes,
                                                       ir::ValueId value, const Repeat& repeat, size_t start) {
  if (!value || !model[value].producer || model[value].graph != model.main_graph()) return std::nullopt;
  const size_t place = classes.place_of(model[value].producer);
  if (place < start || place >= start + repeat.length) return std::nullopt;
  return std::pair(place - start, model[value].index);
}

bool is_wired_alike(const ir::Model& model, const NodeClasses& classes, const Repeat& repeat, size_t start) {
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

std::vector<Repeat> find_repeats(const NodeClasses& classes, const OutlineOptions& options) {
  std::vector<Repeat> repeats;
  for (const size_t distance : frequent_distances(classes)) {
    if (distance >= options.least_nodes) add_repeats(classes, distance, options, repeats);
  }
  std::ranges::stable_sort(repeats, std::ranges::greater(), saving);
  return repeats;
}

void keep_same_wiring(const ir::Model& model, const NodeClasses& classes, Repeat& repeat) {
  const size_t first = repeat.starts.front();
  std::erase_if(repeat.starts,
                [&](size_t start) { return start != first && !is_wired_alike(model, classes, repeat, start); });
}

}  // namespace assay::passes
