#pragma once

#include <string>
#include <string_view>

namespace assay::sweep {

// Files of a sweep's folder say by what version of this form they were written.
inline constexpr std::string_view kPlanSchema = "assay/sweep-plan/1";
inline constexpr std::string_view kJournalSchema = "assay/sweep-journal/1";

// Error (unsupported) for a file that another version wrote.
void check_version(std::string_view found, std::string_view expected, const std::string& path);

}  // namespace assay::sweep
