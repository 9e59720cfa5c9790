#pragma once

#include <string>

#include "report/html/page.h"
#include "results/culprit.h"

namespace assay::report {

// The layers in the order of the graph, each in the colour of what it introduces, as one self-contained page.
std::string hunt_page(const results::AccuracyHunt& hunt, const PageFacts& facts);

}  // namespace assay::report
