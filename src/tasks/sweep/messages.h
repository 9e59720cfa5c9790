#pragma once

#include <string>
#include <string_view>

#include "tasks/sweep/unit_runner.h"

namespace assay::tasks {

// Lines between a sweep and its workers: `run MODEL SHARD COLUMN,...` to them; `begin`, `at COLUMN`, `unit JSON` and
// `done` from them.
std::string run_line(const UnitGroup& group);
// Error (parse) for anything else.
UnitGroup parse_run_line(std::string_view line);

}  // namespace assay::tasks
