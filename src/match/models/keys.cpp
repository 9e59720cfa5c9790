#include "match/models/keys.h"

#include <algorithm>
#include <tuple>

#include "match/models/words.h"

namespace assay::match {
namespace {

uint64_t name_hash(const ir::Model& model, const ir::Node& node) {
  if (!node.name.empty()) return hash_text(node.name);
  for (const ir::ValueId result : node.results) {
    if (result) return mix(1, hash_text(model.text(model[result].name)));
  }
  return 0;
}

uint64_t operator_hash(const ir::Model& model, const ir::Node& node) {
  return mix(hash_text(model.text(node.op)), hash_text(model.text(node.domain)));
}

}  // namespace

uint64_t key_of(const MatchSide& side, ir::NodeId id, Parts parts) {
  const ir::Node& node = side.model[id];
  uint64_t key = parts;
  if (parts & kName) {
    const uint64_t name = name_hash(side.model, node);
    if (name == 0) return 0;
    key = mix(key, name);
  }
  if (parts & kForward) key = mix(key, side.hashes.forward[id.index]);
  if (parts & kBackward) key = mix(key, side.hashes.backward[id.index]);
  if (parts & kContent) key = mix(key, side.hashes.content[id.index]);
  if (parts & kLocal) key = mix(key, side.hashes.local[id.index]);
  if (parts & kOperator) key = mix(key, operator_hash(side.model, node));
  return key;
}

void sort_by_key(std::vector<Keyed>& items) {
  std::ranges::sort(items,
                    [](const Keyed& x, const Keyed& y) { return std::tie(x.key, x.node) < std::tie(y.key, y.node); });
}

}  // namespace assay::match
