#pragma once

#include <string>
#include <vector>

#include "results/culprit.h"

namespace assay::report {

// The sides, and the first guilty layer with all others that are accused. `most` of them are listed.
std::vector<std::string> side_lines(const results::AccuracyHunt& hunt);
std::vector<std::string> culprit_lines(const results::AccuracyHunt& hunt, size_t most);
// Layers that overflow without moving the outputs.
std::vector<std::string> harmless_lines(const results::AccuracyHunt& hunt, size_t most);
// Layers by what int8 costs the outputs, below a title; nothing where no model is quantized.
std::vector<std::string> cost_lines(const results::AccuracyHunt& hunt);
// The layers that add most, one a line.
std::vector<std::string> layer_lines(const results::AccuracyHunt& hunt, size_t most);

}  // namespace assay::report
