#include "inspect/capability.h"

#include <map>

namespace assay::inspect {

std::vector<results::NodeRange> node_ranges(const ir::Model& model, const results::BackendCompatibility& found) {
  std::map<size_t, const results::RefusedNode*> refused;
  for (const results::RefusedNode& node : found.refused) {
    for (const size_t place : node.places) refused.try_emplace(place, &node);
  }
  std::vector<results::NodeRange> ranges;
  const size_t count = model[model.main_graph()].node_count;
  for (size_t i = 0; i < count; ++i) {
    const auto fault = refused.find(i);
    results::NodeRange next{.first = i, .last = i, .is_supported = fault == refused.end()};
    if (!next.is_supported) {
      next.op = fault->second->op;
      next.reason = fault->second->reason;
      next.nodes = {fault->second->node};
    }
    const bool goes_on = !ranges.empty() && ranges.back().is_supported == next.is_supported &&
                         ranges.back().op == next.op && ranges.back().reason == next.reason;
    if (!goes_on) {
      ranges.push_back(std::move(next));
      continue;
    }
    ranges.back().last = i;
    ranges.back().nodes.insert(ranges.back().nodes.end(), next.nodes.begin(), next.nodes.end());
  }
  return ranges;
}

}  // namespace assay::inspect
