#pragma once

#include <filesystem>

#include "results/accuracy_results.h"

namespace assay::formats {

// JSON as the peer's `AccuracyResults`.
void save_accuracy_results(const std::filesystem::path& path, const results::AccuracyResults& comparisons);
// Error (io, parse) with the path as frame.
results::AccuracyResults load_accuracy_results(const std::filesystem::path& path);
// True if the file names that class, at its end.
bool is_accuracy_results(const std::filesystem::path& path);

}  // namespace assay::formats
