#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/model.h"
#include "match/models/hashes.h"

namespace assay::match {

struct MatchSide {
  const ir::Model& model;
  const NodeHashes& hashes;
};

// Properties that two nodes must have in common; several are joined by |.
using Parts = uint32_t;
inline constexpr Parts kNothing = 0;
inline constexpr Parts kName = 1;  // of the node; of its first result where the node has none
inline constexpr Parts kForward = 2;
inline constexpr Parts kBackward = 4;
inline constexpr Parts kContent = 8;
inline constexpr Parts kLocal = 16;
inline constexpr Parts kOperator = 32;

// Equal for nodes that have the parts in common. 0: a name is required and the node has none.
uint64_t key_of(const MatchSide& side, ir::NodeId node, Parts parts);

struct Keyed {
  uint64_t key;
  ir::NodeId node;
};

void sort_by_key(std::vector<Keyed>& items);

// Calls fn for each key that both sorted lists have, with the parts of the lists that have it.
template <typename Fn>
void for_each_common_key(std::span<const Keyed> a, std::span<const Keyed> b, Fn&& fn) {
  const auto run_length = [](std::span<const Keyed> items) {
    size_t length = 1;
    while (length < items.size() && items[length].key == items[0].key) ++length;
    return length;
  };
  while (!a.empty() && !b.empty()) {
    const size_t in_a = a[0].key <= b[0].key ? run_length(a) : 0;
    const size_t in_b = b[0].key <= a[0].key ? run_length(b) : 0;
    if (in_a > 0 && in_b > 0) fn(a.first(in_a), b.first(in_b));
    a = a.subspan(in_a);
    b = b.subspan(in_b);
  }
}

}  // namespace assay::match
