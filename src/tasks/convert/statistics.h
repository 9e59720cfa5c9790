#pragma once

#include <string>
#include <vector>

#include "calibrate/calibrate.h"

namespace assay::tasks {

// A file of statistics of this model (docs/formats.md), written whole or not at all.
void write_statistics(const calibrate::Statistics& statistics, const std::string& model, const std::string& path);
// The sum of several files. Error (parse) for another kind of file, (usage) for one of another model, or of the same
// model with other values.
calibrate::Statistics read_statistics(const std::vector<std::string>& paths, const std::string& model);

}  // namespace assay::tasks
