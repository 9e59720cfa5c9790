#include <algorithm>

#include "base/text.h"
#include "match/models/hashes.h"
#include "match/models/match_models.h"
#include "scene/overlays/overlays.h"

namespace assay::scene {
namespace {

using results::Overlay;

// Kinds of change, as numbers in columns.
enum Change : uint8_t { kSame, kRemoved, kAdded, kChanged, kRenamed };
constexpr std::string_view kChangeWords[] = {"same", "removed", "added", "changed", "renamed"};

struct Side {
  const ir::Model& model;
  const MadeScene& made;
  match::NodeHashes hashes;
};

match::NodeHashes hashes_of(const ir::Model& model) {
  match::InterfaceSeeds seeds;
  seeds.inputs.assign(model[model.main_graph()].inputs.size(), 1);
  seeds.outputs.assign(model.outputs(model.main_graph()).size(), 1);
  return match::hash_nodes(model, seeds);
}

class Differences {
 public:
  Differences(Side mine, Side other, bool is_first)
      : mine_(std::move(mine)), other_(std::move(other)), is_first_(is_first) {}
  Overlay run(const std::vector<ir::NodeId>& counterparts);

 private:
  void add(uint32_t item, Change change, const std::string& facts, const std::string& was);
  Change change_of(ir::NodeId node, ir::NodeId counterpart, std::string& facts) const;
  std::string shown_name(const Side& side, ir::NodeId node) const { return printable(side.model[node].name); }

  Side mine_;
  Side other_;
  bool is_first_;
  Overlay overlay_;
};

Change Differences::change_of(ir::NodeId node, ir::NodeId counterpart, std::string& facts) const {
  if (!counterpart) return is_first_ ? kRemoved : kAdded;
  const bool is_same_op = mine_.model.text(mine_.model[node].op) == other_.model.text(other_.model[counterpart].op);
  if (!is_same_op)
    facts = "operator";
  else if (mine_.hashes.local[node.index] != other_.hashes.local[counterpart.index])
    facts = "attributes";
  else if (mine_.hashes.content[node.index] != other_.hashes.content[counterpart.index])
    facts = "weights";
  if (!facts.empty()) return kChanged;
  return mine_.model[node].name == other_.model[counterpart].name ? kSame : kRenamed;
}

void Differences::add(uint32_t item, Change change, const std::string& facts, const std::string& was) {
  results::OverlayRow row;
  row.words = {{"kind", std::string(kChangeWords[change])}, {"name", std::string(mine_.made.scene.items.names[item])}};
  if (!facts.empty()) row.words.emplace_back("facts", facts);
  if (!was.empty()) row.words.emplace_back("was", was);
  row.items = {item};
  overlay_.table.push_back(std::move(row));
}

Overlay Differences::run(const std::vector<ir::NodeId>& counterparts) {
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
    std::string facts;
    const Change change = change_of(node, counterpart, facts);
    changes[item] = change;
    if (counterpart) {
      const uint32_t number = other_.made.item_of_node[counterpart.index];
      if (number != kNoItem) others[item] = static_cast<float>(number);
    }
    if (change == kSame) continue;
    const bool is_named = counterpart && mine_.model[node].name != other_.model[counterpart].name;
    add(item, change, facts, is_named ? shown_name(other_, counterpart) : "");
  }
  column_of(overlay_, "", "change", false, count) = std::move(changes);
  column_of(overlay_, "", "counterpart", false, count) = std::move(others);
  return std::move(overlay_);
}

}  // namespace

std::pair<Overlay, Overlay> difference_overlays(const ir::Model& a, const MadeScene& made_a, const ir::Model& b,
                                                const MadeScene& made_b) {
  const match::Matching matching = match::match_models(a, b);
  const Side first = {a, made_a, hashes_of(a)};
  const Side second = {b, made_b, hashes_of(b)};
  return {Differences(first, second, true).run(matching.nodes_in_b),
          Differences(second, first, false).run(matching.nodes_in_a)};
}

}  // namespace assay::scene
