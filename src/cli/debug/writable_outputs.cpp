#include "cli/debug/writable_outputs.h"

#include <filesystem>

#include "base/error.h"
#include "base/files.h"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;

// Folders that are missing are made when the file is.
fs::path existing_folder(const fs::path& file) {
  std::error_code ignored;
  fs::path folder = fs::absolute(file, ignored).parent_path();
  while (!fs::exists(folder, ignored) && folder.has_relative_path()) folder = folder.parent_path();
  return folder;
}

}  // namespace

void require_writable_outputs(const Arguments& arguments) {
  for (const Arguments::Occurrence& use : arguments.in_order()) {
    if (!use.row->is_output) continue;
    for (const std::string& file : use.values) {
      if (file == "-" || file.empty()) continue;
      with_frame([&] { return fmt::format("{}", canonical_name(*use.row)); },
                 [&] { const OutputFile probe(existing_folder(file) / "assay_probe"); });
    }
  }
}

}  // namespace assay::cli
