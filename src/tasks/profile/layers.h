#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "exec/session.h"
#include "ir/model.h"
#include "results/profile_report.h"

namespace assay::tasks {

// A node of the model: what it does for inputs of some shapes. Backends call it by its name or by one of its results.
struct NodeWork {
  std::string node;             // name of the node, or of its first result
  std::optional<double> flops;  // nullopt: only data decides
  uint64_t bytes = 0;
};
using WorkOfNodes = std::map<std::string, NodeWork, std::less<>>;
WorkOfNodes work_of_nodes(const ir::Model& model, std::span<const exec::Feed> feeds);

// The layers with the medians of their times over all runs, what they do, and what bounds them.
std::vector<results::ProfiledLayer> merge_runs(const std::vector<std::vector<exec::LayerSeconds>>& runs,
                                               const WorkOfNodes& work, const results::MachineRoof& roof);

// Layers of different backends that share nodes of the model, in the order of the first backend.
std::vector<results::LayerGroup> group_layers(std::span<const results::ProfiledBackend> backends);

}  // namespace assay::tasks
