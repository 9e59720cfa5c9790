#pragma once

#include "tasks/sweep/samples.h"

namespace assay::tasks {

// The PNG files of a folder and their labels: `labels.csv` in it says `FILE,LABEL` a line, otherwise each folder in it
// is a class, numbered in the order of their names; files in the folder itself have no label, which is -1.
void find_images(const std::string& folder, results::SweepPlan& plan);
// Each picture is the model's one input, as floats with their channels before or behind the places.
std::unique_ptr<SampleReader> open_images(const ImageRules& rules, const results::SweepPlan& plan,
                                          const ir::Model& model);

}  // namespace assay::tasks
