#pragma once

#include <cstdint>
#include <vector>

#include "layout/graph.h"

namespace assay::layout {

// The layer of each box: behind those of all that it needs, where no cycle forbids it.
std::vector<uint32_t> find_layers(const Graph& graph);

}  // namespace assay::layout
