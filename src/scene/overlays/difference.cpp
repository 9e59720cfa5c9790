#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <unordered_map>
#include <variant>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "inspect/model_diff/parts.h"
#include "match/models/hashes.h"
#include "match/models/match_models.h"
#include "scene/overlays/overlays.h"

namespace assay::scene {
namespace {

using results::Overlay;

// Kinds of change, as numbers in columns.
enum Change : uint8_t { kSame, kRemoved, kAdded, kChanged, kRenamed };
constexpr uint64_t kMostElements = 100'000'000;  // of weights that are compared
constexpr std::string_view kChangeWords[] = {"same", "removed", "added", "changed", "renamed"};

struct Side {
  const ir::Model& model;
  const MadeScene& made;
};

match::NodeHashes hashes_of(const ir::Model& model) {
  match::InterfaceSeeds seeds;
  seeds.inputs.assign(model[model.main_graph()].inputs.size(), 1);
  seeds.outputs.assign(model.outputs(model.main_graph()).size(), 1);
  return match::hash_nodes(model, seeds);
}

// `alpha: 0.5, now 0.25`
std::string text_of(const results::FactChange& change) {
  const std::string before = change.before.value_or("none");
  return fmt::format("{}: {}, now {}", change.what, before, change.after.value_or("none"));
}

// In what a pair of nodes differs: words, and how far the weights are apart, beside those of the first one.
struct PairFacts {
  std::string text;  // empty: they are the same
  double distance = std::numeric_limits<double>::quiet_NaN();
};

// Facts of pairs of nodes, which are found once.
class PairChanges {
 public:
  PairChanges(const ir::Model& a, const ir::Model& b, const match::Matching& matching)
      : context_{a, b, matching, options_}, hashes_a_(hashes_of(a)), hashes_b_(hashes_of(b)) {}
  const PairFacts& facts(ir::NodeId left, ir::NodeId right);

 private:
  PairFacts find(ir::NodeId left, ir::NodeId right);
  double distance(const ir::Node& a, const ir::Node& b);

  inspect::DiffOptions options_;
  inspect::DiffContext context_;
  match::NodeHashes hashes_a_;
  match::NodeHashes hashes_b_;
  uint64_t elements_left_ = kMostElements;
  std::unordered_map<ir::NodeId, PairFacts> known_;
};

const PairFacts& PairChanges::facts(ir::NodeId left, ir::NodeId right) {
  const auto [entry, is_new] = known_.try_emplace(left);
  if (is_new) entry->second = find(left, right);
  return entry->second;
}

// The greatest one of weights in the same places; NaN where none can be compared.
double PairChanges::distance(const ir::Node& a, const ir::Node& b) {
  double greatest = std::numeric_limits<double>::quiet_NaN();
  for (size_t i = 0; i < std::min(a.operands.size(), b.operands.size()); ++i) {
    const ir::ValueId left = a.operands[i].value;
    const ir::ValueId right = b.operands[i].value;
    const ir::TensorId before = left ? context_.a[left].constant : ir::TensorId();
    const ir::TensorId after = right ? context_.b[right].constant : ir::TensorId();
    if (!before || !after || !inspect::same_tensor_type(context_.a[before], context_.b[after])) continue;
    const uint64_t count = context_.a[before].tensor.count();
    if (count > elements_left_) continue;
    elements_left_ -= count;
    const auto found = attempt([&] { return inspect::tensor_distance(context_.a[before], context_.b[after], {}); });
    if (const auto* measured = std::get_if<results::TensorDistance>(&found)) {
      greatest = std::fmax(greatest, measured->relative_norm);
    }
  }
  return greatest;
}

PairFacts PairChanges::find(ir::NodeId left, ir::NodeId right) {
  if (hashes_a_.content[left.index] == hashes_b_.content[right.index]) return {};
  const ir::Node& a = context_.a[left];
  const ir::Node& b = context_.b[right];
  std::vector<std::string> facts;
  const std::string_view before = context_.a.text(a.op);
  const std::string_view after = context_.b.text(b.op);
  if (before != after) facts.push_back(fmt::format("operator: {}, now {}", before, after));
  std::vector<results::FactChange> changes;
  inspect::diff_attributes(context_, a.attributes, b.attributes, changes);
  for (const results::FactChange& change : changes) facts.push_back(text_of(change));
  if (facts.empty()) facts.emplace_back("weights");
  return {join(facts, "; "), distance(a, b)};
}

// One side of a comparison.
class Differences {
 public:
  Differences(const Side& mine, const Side& other, bool is_first) : mine_(mine), other_(other), is_first_(is_first) {}
  // `facts` tells in what a node and its counterpart differ.
  Overlay run(const std::vector<ir::NodeId>& counterparts,
              const std::function<PairFacts(ir::NodeId node, ir::NodeId counterpart)>& facts);

 private:
  void add(uint32_t item, Change change, const PairFacts& facts, const std::string& was);
  bool is_renamed(ir::NodeId node, ir::NodeId counterpart) const {
    return mine_.model[node].name != other_.model[counterpart].name;
  }

  Side mine_;
  Side other_;
  bool is_first_;
  Overlay overlay_;
};

void Differences::add(uint32_t item, Change change, const PairFacts& facts, const std::string& was) {
  results::OverlayRow row;
  row.words = {{"kind", std::string(kChangeWords[change])}, {"name", std::string(mine_.made.scene.items.names[item])}};
  if (!facts.text.empty()) row.words.emplace_back("facts", facts.text);
  if (!std::isnan(facts.distance)) row.numbers.emplace_back("distance", facts.distance);
  if (!was.empty()) row.words.emplace_back("was", was);
  row.items = {item};
  overlay_.table.push_back(std::move(row));
}

Overlay Differences::run(const std::vector<ir::NodeId>& counterparts,
                         const std::function<PairFacts(ir::NodeId node, ir::NodeId counterpart)>& facts) {
  overlay_.what = "difference";
  overlay_.title = "difference of two models";
  overlay_.scene = is_first_ ? 0 : 1;
  overlay_.fields = {{"change", "", "linear", "0 same, 1 removed, 2 added, 3 changed, 4 renamed"},
                     {"counterpart", "", "linear", "number of the box in the other model"}};
  const size_t count = mine_.made.nodes.size();
  std::vector<float> changes = column_of(overlay_, "", "change", false, count);
  std::vector<float> others = changes;
  for (uint32_t item = 0; item < count; ++item) {
    const ir::NodeId node = mine_.made.nodes[item];
    if (!node) continue;
    const ir::NodeId counterpart = counterparts[node.index];
    if (!counterpart) {
      changes[item] = is_first_ ? kRemoved : kAdded;
      add(item, is_first_ ? kRemoved : kAdded, {}, "");
      continue;
    }
    const uint32_t number = other_.made.item_of_node[counterpart.index];
    if (number != kNoItem) others[item] = static_cast<float>(number);
    const PairFacts differing = facts(node, counterpart);
    const bool has_new_name = is_renamed(node, counterpart);
    const Change change = !differing.text.empty() ? kChanged : has_new_name ? kRenamed : kSame;
    changes[item] = change;
    if (change != kSame) add(item, change, differing, has_new_name ? printable(other_.model[counterpart].name) : "");
  }
  column_of(overlay_, "", "change", false, count) = std::move(changes);
  column_of(overlay_, "", "counterpart", false, count) = std::move(others);
  return std::move(overlay_);
}

}  // namespace

std::pair<Overlay, Overlay> difference_overlays(const ir::Model& a, const MadeScene& made_a, const ir::Model& b,
                                                const MadeScene& made_b) {
  const match::Matching matching = match::match_models(a, b);
  PairChanges pairs(a, b, matching);
  const Side first = {a, made_a};
  const Side second = {b, made_b};
  return {Differences(first, second, true)
              .run(matching.nodes_in_b,
                   [&](ir::NodeId node, ir::NodeId counterpart) { return pairs.facts(node, counterpart); }),
          Differences(second, first, false).run(matching.nodes_in_a, [&](ir::NodeId node, ir::NodeId counterpart) {
            return pairs.facts(counterpart, node);
          })};
}

}  // namespace assay::scene
