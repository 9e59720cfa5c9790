#include "ir/origins.h"

#include <algorithm>

namespace assay::ir {

std::vector<NodeId> Origins::of(NodeId node) const {
  const auto found = nodes_.find(node);
  return found == nodes_.end() ? std::vector<NodeId>{node} : found->second;
}

ValueId Origins::current(ValueId source) const {
  for (auto found = replaced_by_.find(source); found != replaced_by_.end(); found = replaced_by_.find(source)) {
    source = found->second;
  }
  return source;
}

void Origins::merge(NodeId made, const std::vector<NodeId>& replaced) {
  std::vector<NodeId> all;
  for (const NodeId node : replaced) {
    const std::vector<NodeId> sources = of(node);
    all.insert(all.end(), sources.begin(), sources.end());
  }
  std::ranges::sort(all);
  all.erase(std::ranges::unique(all).begin(), all.end());
  nodes_[made] = std::move(all);
}

}  // namespace assay::ir
