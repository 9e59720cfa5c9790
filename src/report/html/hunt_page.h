#pragma once

#include <string>

#include "report/html/page.h"
#include "results/culprit.h"

namespace assay::report {

// The first guilty layer, and all layers in the order of the graph, as one self-contained page.
std::string hunt_page(const results::AccuracyHunt& hunt, const PageFacts& facts);

}  // namespace assay::report
