#pragma once

#include <filesystem>
#include <string>

#include "results/sweep.h"

namespace assay::sweep {

// Tables `units`, `metrics`, `samples`, `causes` and `rows` of a report, in a new SQLite file in the place of another.
// Error (io) if it cannot be written.
void save_sqlite(const std::filesystem::path& path, const results::SweepReport& report);

// One line for each unit, as RFC 4180 says.
std::string units_csv(const results::SweepReport& report);

}  // namespace assay::sweep
