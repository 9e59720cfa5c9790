#pragma once

#include <filesystem>
#include <string>

#include "runners/case_file.h"

namespace assay::cases {

// For tools/fill_cases.py: all runs of cases with outputs that are not filled, as JSON. Writes their models as files
// into `folder`, numbered from the number of files there.
std::string describe_unfilled(const CaseFile& file, const std::filesystem::path& folder);

}  // namespace assay::cases
