#pragma once

#include "surgery/shard/region.h"
#include "surgery/shard/tensor_parallel.h"

namespace assay::surgery {

// The regions that can be split over so many ranks, in the order of the graph; no node is in two regions.
std::vector<Region> find_regions(const ShapeFacts& facts, int64_t ranks, std::vector<LeftWhole>& left);

}  // namespace assay::surgery
