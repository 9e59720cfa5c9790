#include "scene/lines.h"

#include <algorithm>
#include <bit>
#include <deque>
#include <string>
#include <unordered_map>

#include "base/parallel.h"
#include "layout/graph.h"

namespace assay::scene {
namespace {

using results::kNoItem;
using results::Scene;

constexpr size_t kMostAtOnce = 1024;  // groups that are drawn beside each other
constexpr size_t kMostKept = 4096;    // pictures that later groups may have again
constexpr uint64_t kGrain = 32;

class StrandFinder {
 public:
  explicit StrandFinder(const Scene& scene) : scene_(scene), depths_(scene.items.size(), 0) {
    for (uint32_t i = 1; i < depths_.size(); ++i) depths_[i] = depths_[parent(i)] + 1;
  }
  std::vector<Strand> run();

 private:
  uint32_t parent(uint32_t item) const { return scene_.items.parents[item]; }
  void add_value(uint32_t value, uint32_t producer, std::span<const uint32_t> users);
  void add_use(uint32_t value, uint32_t producer, uint32_t user);
  std::vector<Strand> by_group() const;

  const Scene& scene_;
  std::vector<uint32_t> depths_;  // parents have lower numbers than their children
  std::vector<Strand> strands_;
  uint32_t least_depth_ = 0;  // of the groups that the value at hand leaves already
};

// Strands inside the producer's side are found once for all uses; those on the user's side may be found again.
void StrandFinder::add_use(uint32_t value, uint32_t producer, uint32_t user) {
  uint32_t from = producer;
  uint32_t to = user;
  const auto leave = [&] {
    if (depths_[from] <= least_depth_) {
      strands_.push_back({parent(from), value, from, kNoItem});
      least_depth_ = depths_[from] - 1;
    }
    from = parent(from);
  };
  const size_t begin = strands_.size();
  while (depths_[to] > depths_[from]) {
    strands_.push_back({parent(to), value, kNoItem, to});
    to = parent(to);
  }
  if (from == to) return strands_.resize(begin);  // a body that takes what its own node gives
  while (depths_[from] > depths_[to]) leave();
  while (parent(from) != parent(to)) {
    leave();
    strands_.push_back({parent(to), value, kNoItem, to});
    to = parent(to);
  }
  strands_.push_back({parent(from), value, from, to});
}

void StrandFinder::add_value(uint32_t value, uint32_t producer, std::span<const uint32_t> users) {
  const auto begin = static_cast<ptrdiff_t>(strands_.size());
  least_depth_ = kNoItem;
  for (const uint32_t user : users) {
    if (user != producer && user != 0) add_use(value, producer, user);
  }
  std::sort(strands_.begin() + begin, strands_.end());
  strands_.erase(std::unique(strands_.begin() + begin, strands_.end()), strands_.end());
}

std::vector<Strand> StrandFinder::by_group() const {
  std::vector<uint32_t> next(scene_.items.size() + 1, 0);
  for (const Strand& strand : strands_) ++next[strand.group + 1];
  for (size_t i = 1; i < next.size(); ++i) next[i] += next[i - 1];
  std::vector<Strand> sorted(strands_.size());
  for (const Strand& strand : strands_) sorted[next[strand.group]++] = strand;
  return sorted;
}

std::vector<Strand> StrandFinder::run() {
  strands_.reserve(scene_.use_nodes.size() + scene_.use_nodes.size() / 2);
  size_t at = 0;
  std::vector<uint32_t> users;
  for (uint32_t value = 0; value < scene_.value_producers.size(); ++value) {
    users.clear();
    for (; at < scene_.use_values.size() && scene_.use_values[at] == value; ++at) users.push_back(scene_.use_nodes[at]);
    if (scene_.value_producers[value] != kNoItem) add_value(value, scene_.value_producers[value], users);
  }
  return by_group();
}

// A picture, and where its bends stand in the columns once it is put there.
struct Drawn {
  layout::Picture picture;
  uint32_t bends = kNoItem;
};

// One group as a graph, to be put into the columns with a picture of it.
class GroupGraph {
 public:
  GroupGraph(uint32_t group, std::span<const Strand> strands) : group_(group), strands_(strands) {}
  void make(const results::SceneItems& items);
  const layout::Graph& graph() const { return graph_; }
  // Numbers that tell all that a picture depends on.
  const std::u32string& key() const { return key_; }
  void put_into(Scene& scene, Drawn& drawn) const;

 private:
  void make_key();
  void put_lines(results::SceneLines& lines, const Drawn& drawn) const;
  uint32_t box(uint32_t item) const { return item == kNoItem ? layout::kBorder : item - first_; }
  uint32_t item(uint32_t box) const { return box == layout::kBorder ? kNoItem : box + first_; }

  uint32_t group_;
  std::span<const Strand> strands_;
  uint32_t first_ = 0;
  layout::Graph graph_;
  std::u32string key_;
  std::vector<uint32_t> values_;  // by wire
};

void GroupGraph::make(const results::SceneItems& items) {
  first_ = items.first_children[group_];
  graph_.boxes.reserve(items.child_counts[group_]);
  for (uint32_t i = 0; i < items.child_counts[group_]; ++i) {
    graph_.boxes.push_back({items.widths[first_ + i], items.heights[first_ + i]});
  }
  for (size_t i = 0; i < strands_.size(); ++i) {
    const bool is_new =
        i == 0 || strands_[i].value != strands_[i - 1].value || strands_[i].from != strands_[i - 1].from;
    if (is_new) {
      graph_.wires.push_back({box(strands_[i].from), static_cast<uint32_t>(graph_.targets.size()), 0});
      values_.push_back(strands_[i].value);
    }
    ++graph_.wires.back().count;
    graph_.targets.push_back(box(strands_[i].to));
  }
  make_key();
}

void GroupGraph::make_key() {
  key_.reserve(2 * graph_.boxes.size() + 2 * graph_.wires.size() + graph_.targets.size() + 1);
  key_ += static_cast<char32_t>(graph_.boxes.size());
  for (const layout::Box& box : graph_.boxes) {
    key_ += std::bit_cast<char32_t>(box.width);
    key_ += std::bit_cast<char32_t>(box.height);
  }
  for (const layout::Wire& wire : graph_.wires) {
    key_ += static_cast<char32_t>(wire.from);
    key_ += static_cast<char32_t>(wire.count);
  }
  for (const uint32_t target : graph_.targets) key_ += static_cast<char32_t>(target);
}

void GroupGraph::put_lines(results::SceneLines& lines, const Drawn& drawn) const {
  for (const layout::Line& line : drawn.picture.lines) {
    lines.values.push_back(values_[line.wire]);
    lines.from.push_back(item(graph_.wires[line.wire].from));
    lines.to.push_back(item(line.to));
    lines.bend_starts.push_back(drawn.bends + line.bend_start);
    lines.bend_counts.push_back(static_cast<uint16_t>(std::min(line.bend_count, 0xffffu)));
  }
}

void GroupGraph::put_into(Scene& scene, Drawn& drawn) const {
  const layout::Picture& picture = drawn.picture;
  results::SceneItems& items = scene.items;
  items.content_widths[group_] = picture.width;
  items.content_heights[group_] = picture.height;
  for (uint32_t i = 0; i < picture.places.size(); ++i) {
    items.x[first_ + i] = picture.places[i].x;
    items.y[first_ + i] = picture.places[i].y;
    items.layers[first_ + i] = picture.layers[i];
    items.ranks[first_ + i] = picture.ranks[i];
  }
  if (drawn.bends == kNoItem) {
    drawn.bends = static_cast<uint32_t>(scene.lines.bends_x.size());
    for (const layout::Point& bend : picture.bends) {
      scene.lines.bends_x.push_back(bend.x);
      scene.lines.bends_y.push_back(bend.y);
    }
  }
  put_lines(scene.lines, drawn);
  for (size_t wire = 0; wire < picture.rails.size(); ++wire) {
    if (picture.rails[wire] != 0) scene.rails[values_[wire]] = 1;
  }
}

// Draws groups beside each other, some at a time, each different one once, and puts them into the columns in their
// order.
class Drawer {
 public:
  explicit Drawer(Scene& scene) : scene_(scene) {}
  void add(uint32_t group, std::span<const Strand> strands);
  void finish() { draw(); }

 private:
  void draw();

  Scene& scene_;
  std::vector<GroupGraph> graphs_;
  std::unordered_map<std::u32string, uint32_t> known_;  // pictures, by all that they depend on
  std::deque<Drawn> drawn_;
};

void Drawer::add(uint32_t group, std::span<const Strand> strands) {
  graphs_.emplace_back(group, strands);
  if (graphs_.size() == kMostAtOnce) draw();
}

void Drawer::draw() {
  parallel_for(graphs_.size(), kGrain, [&](uint64_t begin, uint64_t end) {
    for (uint64_t i = begin; i < end; ++i) graphs_[i].make(scene_.items);
  });
  std::vector<uint32_t> pictures;                              // by graph
  std::vector<std::pair<const layout::Graph*, Drawn*>> fresh;  // not known yet
  for (const GroupGraph& graph : graphs_) {
    const auto [entry, is_new] = known_.try_emplace(graph.key(), static_cast<uint32_t>(drawn_.size()));
    if (is_new) fresh.emplace_back(&graph.graph(), &drawn_.emplace_back());
    pictures.push_back(entry->second);
  }
  parallel_for(fresh.size(), 1,
               [&](uint64_t begin, uint64_t) { fresh[begin].second->picture = layout::draw(*fresh[begin].first); });
  for (size_t i = 0; i < graphs_.size(); ++i) graphs_[i].put_into(scene_, drawn_[pictures[i]]);
  graphs_.clear();
  if (drawn_.size() > kMostKept) {
    known_.clear();
    drawn_.clear();
  }
}

}  // namespace

std::vector<Strand> find_strands(const Scene& scene) { return StrandFinder(scene).run(); }

void draw_groups(Scene& scene) {
  results::SceneItems& items = scene.items;
  for (std::vector<uint32_t>* column : {&items.layers, &items.ranks}) column->resize(items.size());
  for (std::vector<float>* column : {&items.x, &items.y, &items.content_widths, &items.content_heights}) {
    column->resize(items.size());
  }
  const std::vector<Strand> strands = find_strands(scene);
  results::SceneLines& lines = scene.lines;
  for (std::vector<uint32_t>* column : {&lines.values, &lines.from, &lines.to, &lines.bend_starts}) {
    column->reserve(strands.size());
  }
  lines.bend_counts.reserve(strands.size());
  Drawer drawer(scene);
  size_t at = 0;
  for (uint32_t group = 0; group < items.size(); ++group) {
    const size_t begin = at;
    while (at < strands.size() && strands[at].group == group) ++at;
    if (items.child_counts[group] == 0) continue;
    drawer.add(group, std::span(strands).subspan(begin, at - begin));
  }
  drawer.finish();
}

}  // namespace assay::scene
