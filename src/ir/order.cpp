#include "ir/order.h"

#include <algorithm>

namespace assay::ir {
namespace {

constexpr uint64_t kAppendGap = uint64_t{1} << 32;
constexpr uint64_t kLastLabel = uint64_t{1} << 62;
constexpr double kSparse = 1.5;  // a range of 2^i labels counts as sparse below (2 / kSparse)^i nodes

struct Range {
  NodeId first;
  uint64_t count;
};

// The run of nodes around `node` whose labels lie in [low, high].
Range nodes_within(const Pool<NodeId, Node>& nodes, NodeId node, uint64_t low, uint64_t high) {
  Range range{node, 1};
  for (NodeId id = nodes[node].previous; id && nodes[id].order >= low; id = nodes[id].previous) {
    range.first = id;
    ++range.count;
  }
  for (NodeId id = nodes[node].next; id && nodes[id].order <= high; id = nodes[id].next) ++range.count;
  return range;
}

// Spreads the labels of the smallest sparse aligned range around a neighbour whose label `node` now shares.
void spread(Pool<NodeId, Node>& nodes, NodeId node) {
  double capacity = 1;
  for (uint64_t size = 2; size <= kLastLabel; size *= 2) {
    capacity *= 2 / kSparse;
    const uint64_t low = nodes[node].order / size * size;
    const Range range = nodes_within(nodes, node, low, low + size - 1);
    if (static_cast<double>(range.count) >= capacity) continue;
    const uint64_t step = size / range.count;
    uint64_t label = low;
    NodeId id = range.first;
    for (uint64_t i = 0; i < range.count; ++i, id = nodes[id].next, label += step) nodes[id].order = label;
    return;
  }
}

}  // namespace

void assign_order(Pool<NodeId, Node>& nodes, NodeId node) {
  Node& self = nodes[node];
  const uint64_t low = self.previous ? nodes[self.previous].order : 0;
  if (!self.next && low + kAppendGap < kLastLabel) {
    self.order = low + kAppendGap;
    return;
  }
  const uint64_t high = self.next ? nodes[self.next].order : kLastLabel;
  self.order = low + (high - low) / 2;
  if (self.order == low) spread(nodes, node);
}

}  // namespace assay::ir
