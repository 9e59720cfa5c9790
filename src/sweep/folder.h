#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "results/sweep.h"
#include "sweep/share.h"

namespace assay::sweep {

// The folder of a sweep: its plan, its journal, worst samples, and samples that a loader gave.

inline constexpr std::string_view kOriginal = "original";  // the variant that is the model itself

std::filesystem::path journal_folder(const std::filesystem::path& folder);

// Error (io) where no sweep has been; Error (unsupported) for one of another version of Assay.
results::SweepPlan load_plan(const std::filesystem::path& folder);
void save_plan(const std::filesystem::path& folder, const results::SweepPlan& plan);

// Keeps others from writing into the folder, until it or its process ends. Processes with shares of one sweep do not
// exclude each other.
class FolderLock {
 public:
  // Error (usage): another sweep is at work there.
  FolderLock(const std::filesystem::path& folder, const Share& share);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

  static bool is_held(const std::filesystem::path& folder);

 private:
  std::vector<int> files_;
};

}  // namespace assay::sweep
