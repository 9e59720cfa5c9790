#include <algorithm>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>

#include "ir/queries.h"
#include "ir/walk.h"
#include "match/models/words.h"
#include "scene/repeats.h"
#include "scene/tree.h"

namespace assay::scene {
namespace {

constexpr size_t kMostChildren = 300;
constexpr size_t kLeastForRepeats = 40;  // children among which equal parts are looked for
constexpr size_t kLeastPiece = 75;
constexpr size_t kMostPiece = 225;

class Splitter {
 public:
  Splitter(const ir::Model& model, Tree& tree) : model_(model), tree_(tree) {}
  void run();

 private:
  using List = std::vector<uint32_t>;

  void hash_all(const Children& children);
  uint64_t hash_of(const Entry& entry, std::span<const uint32_t> children) const;
  void count_living();
  void split(uint32_t group, std::span<const uint32_t> children);
  void split_added();
  List group_repeats(uint32_t group, const List& children);
  void add_occurrences(uint32_t group, const List& children, const match::Repeat& repeat, char letter,
                       std::vector<uint32_t>& taken);
  uint32_t add_group(uint32_t parent, ItemKind kind, std::string label, std::span<const uint32_t> children);
  List cut(uint32_t group, const List& children);
  size_t end_of_piece(const List& children, size_t begin) const;
  uint32_t living_behind(uint32_t entry) const {
    const uint32_t last = tree_.entries[entry].last;
    return last < living_.size() ? living_[last] : 0;
  }
  std::string label_of(uint32_t entry) const;
  void number_repeats();

  const ir::Model& model_;
  Tree& tree_;
  std::vector<uint64_t> hashes_;  // by entry
  std::vector<uint32_t> living_;  // by order: values that are needed behind that node
  std::vector<std::pair<uint32_t, List>> pending_;
};

uint64_t Splitter::hash_of(const Entry& entry, std::span<const uint32_t> children) const {
  uint64_t hash = static_cast<uint64_t>(entry.kind == ItemKind::repeat ? ItemKind::group : entry.kind);
  if (entry.node) {
    const ir::Node& node = model_[entry.node];
    hash = match::mix(match::mix(hash, node.op.index), node.domain.index);
    hash = match::mix(match::mix(hash, node.operands.size()), node.results.size());
    for (const ir::Attribute& attribute : node.attributes) {
      hash = match::mix(hash, attribute.name().index);
      if (attribute.type() == ir::AttributeType::string) hash = match::mix(hash, attribute.string().index);
      const bool is_whole =
          attribute.type() == ir::AttributeType::integer || attribute.type() == ir::AttributeType::integers;
      if (!is_whole || attribute.is_reference()) continue;
      for (const int64_t number : attribute.integers()) hash = match::mix(hash, static_cast<uint64_t>(number));
    }
  }
  for (const uint32_t child : children) hash = match::mix(hash, hashes_[child]);
  return hash;
}

void Splitter::hash_all(const Children& children) {
  hashes_.assign(tree_.entries.size(), 0);
  List order = {0};
  order.reserve(children.items.size() + 1);
  for (size_t i = 0; i < order.size(); ++i) {
    const std::span<const uint32_t> list = children[order[i]];
    order.insert(order.end(), list.begin(), list.end());
  }
  for (size_t i = order.size(); i-- > 0;) {
    hashes_[order[i]] = hash_of(tree_.entries[order[i]], children[order[i]]);
  }
}

void Splitter::count_living() {
  uint32_t count = 0;
  for (const Entry& entry : tree_.entries) {
    if (entry.node) count = std::max(count, entry.order + 1);
  }
  std::vector<int32_t> changes(count + 1, 0);
  for (const ir::ValueId value : ir::live_values(model_)) {
    const ir::NodeId producer = model_[value].producer;
    if (!producer || tree_.item_of_node[producer.index] == kNoItem) continue;
    const uint32_t begin = tree_.entries[tree_.item_of_node[producer.index]].order;
    uint32_t end = begin;
    for (const ir::Use& use : ir::uses(model_, value)) {
      const uint32_t user = tree_.item_of_node[use.user.index];
      end = std::max(end, user == kNoItem ? count : tree_.entries[user].order);
    }
    ++changes[begin];
    --changes[end];
  }
  living_.assign(count, 0);
  int32_t living = 0;
  for (uint32_t i = 0; i < count; ++i) living_[i] = static_cast<uint32_t>(living += changes[i]);
}

std::string Splitter::label_of(uint32_t item) const {
  const Entry& entry = tree_.entries[item];
  const std::string_view text = entry.node ? model_.text(model_[entry.node].op) : entry.label;
  return std::string(text.substr(0, text.find(" … ")));
}

uint32_t Splitter::add_group(uint32_t parent, ItemKind kind, std::string label, std::span<const uint32_t> children) {
  const uint32_t group = tree_.add(parent, kind, tree_.keep(std::move(label)));
  Entry& entry = tree_.entries[group];
  entry.order = tree_.entries[children.front()].order;
  for (const uint32_t child : children) {
    tree_.entries[child].parent = group;
    entry.last = std::max(entry.last, tree_.entries[child].last);
  }
  hashes_.push_back(hash_of(entry, children));
  pending_.emplace_back(group, List(children.begin(), children.end()));
  return group;
}

// Occurrences that follow each other become a group of groups.
void Splitter::add_occurrences(uint32_t group, const List& children, const match::Repeat& repeat, char letter,
                               std::vector<uint32_t>& taken) {
  for (size_t i = 0; i < repeat.starts.size();) {
    size_t end = i + 1;
    while (end < repeat.starts.size() && repeat.starts[end] == repeat.starts[end - 1] + repeat.length) ++end;
    List parts;
    for (size_t k = i; k < end; ++k) {
      parts.push_back(add_group(group, ItemKind::group, fmt::format("block {}{}", letter, k + 1),
                                std::span(children).subspan(repeat.starts[k], repeat.length)));
    }
    uint32_t whole = parts.front();
    if (parts.size() > 1) {
      whole = add_group(group, ItemKind::repeat, fmt::format("{} × block {}", parts.size(), letter), parts);
    }
    std::fill_n(taken.begin() + static_cast<ptrdiff_t>(repeat.starts[i]), repeat.length * (end - i), whole);
    i = end;
  }
}

// Equal parts become groups; gives the children that are left, and these groups.
Splitter::List Splitter::group_repeats(uint32_t group, const List& children) {
  std::unordered_map<uint64_t, uint32_t> known;
  std::vector<uint32_t> classes;
  for (const uint32_t child : children) {
    classes.push_back(known.try_emplace(hashes_[child], static_cast<uint32_t>(known.size())).first->second);
  }
  std::vector<uint32_t> living;
  for (const uint32_t child : children) living.push_back(living_behind(child));
  std::vector<uint32_t> taken(children.size(), kNoItem);  // by child: the group that stands there now
  char letter = 'A';
  for (const match::Repeat& repeat : choose_repeats(classes, living)) {
    add_occurrences(group, children, repeat, letter++, taken);
  }
  List left;
  for (size_t i = 0; i < children.size(); ++i) {
    const uint32_t item = taken[i] == kNoItem ? children[i] : taken[i];
    if (left.empty() || left.back() != item) left.push_back(item);
  }
  return left;
}

// The place near the middle of the window behind which fewest values are needed.
size_t Splitter::end_of_piece(const List& children, size_t begin) const {
  if (children.size() - begin <= kMostPiece) return children.size();
  size_t best = begin + kLeastPiece;
  const auto cost = [&](size_t end) {
    const size_t middle = begin + (kLeastPiece + kMostPiece) / 2;
    return std::pair(living_behind(children[end - 1]), end > middle ? end - middle : middle - end);
  };
  for (size_t end = best + 1; end <= begin + kMostPiece; ++end) {
    if (cost(end) < cost(best)) best = end;
  }
  return best;
}

Splitter::List Splitter::cut(uint32_t group, const List& children) {
  List pieces;
  for (size_t begin = 0; begin < children.size();) {
    const size_t end = end_of_piece(children, begin);
    const std::span<const uint32_t> piece = std::span(children).subspan(begin, end - begin);
    if (piece.size() == 1) {
      pieces.push_back(piece[0]);
    } else {
      std::string label = label_of(piece.front()) + " … " + label_of(piece.back());
      pieces.push_back(add_group(group, ItemKind::group, std::move(label), piece));
      pending_.pop_back();
    }
    begin = end;
  }
  return pieces;
}

void Splitter::split(uint32_t group, std::span<const uint32_t> all) {
  List children;
  for (const uint32_t child : all) {
    const ItemKind kind = tree_.entries[child].kind;
    if (kind != ItemKind::input && kind != ItemKind::output) children.push_back(child);
  }
  if (children.size() >= kLeastForRepeats && tree_.entries[group].kind != ItemKind::repeat) {
    children = group_repeats(group, children);
  }
  while (children.size() > kMostChildren) children = cut(group, children);
}

void Splitter::split_added() {
  while (!pending_.empty()) {
    const auto [group, list] = std::move(pending_.back());
    pending_.pop_back();
    split(group, list);
  }
}

void Splitter::number_repeats() {
  hash_all(tree_.children());
  std::unordered_map<uint64_t, uint32_t> counts;
  const auto is_group = [](const Entry& entry) { return !entry.is_dropped && entry.kind == ItemKind::group; };
  for (uint32_t i = 1; i < tree_.entries.size(); ++i) {
    if (is_group(tree_.entries[i])) ++counts[hashes_[i]];
  }
  std::unordered_map<uint64_t, uint32_t> classes;
  for (uint32_t i = 1; i < tree_.entries.size(); ++i) {
    if (!is_group(tree_.entries[i]) || counts[hashes_[i]] < 2) continue;
    tree_.entries[i].repeat = classes.try_emplace(hashes_[i], static_cast<uint32_t>(classes.size())).first->second;
  }
}

void Splitter::run() {
  tree_.set_orders();
  const Children children = tree_.children();
  hash_all(children);
  count_living();
  for (size_t i = children.size(); i-- > 0;) {
    if (children[i].empty() || tree_.entries[i].node) continue;
    split(static_cast<uint32_t>(i), children[i]);
    split_added();
  }
  tree_.set_orders();
  number_repeats();
}

}  // namespace

void split_groups(const ir::Model& model, Tree& tree) { Splitter(model, tree).run(); }

}  // namespace assay::scene
