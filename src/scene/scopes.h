#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ir/model.h"

namespace assay::scene {

// Notes of a node's file about it; empty for nodes that no file has. What is damaged is left
// out.
std::vector<std::pair<std::string, std::string>> node_metadata(const ir::Model& model, ir::NodeId node);
// The documentation of a node, likewise.
std::string node_documentation(const ir::Model& model, ir::NodeId node);
// The scopes that a node stands in, outermost first: from the notes of PyTorch's exporters, else from its name.
std::vector<std::string> node_scopes(const ir::Model& model, ir::NodeId node);

}  // namespace assay::scene
