#include "cli/debug/writable_outputs.h"

#include <filesystem>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;

// The folder in which the file is tried; missing folders are made when it is written.
fs::path place_of(const fs::path& file) {
  std::error_code ignored;
  fs::path folder = fs::absolute(file, ignored).parent_path();
  while (!fs::exists(folder, ignored) && folder.has_relative_path()) folder = folder.parent_path();
  return folder / file.filename();
}

// Nothing is left of it. Devices and pipes would have to be opened.
void try_to_write(const fs::path& file) {
  std::error_code ignored;
  if (fs::exists(file, ignored) && !fs::is_regular_file(file, ignored)) return;
  const OutputFile probe(place_of(file));
}

}  // namespace

void require_writable_outputs(const Arguments& arguments) {
  for (const Arguments::Occurrence& use : arguments.in_order()) {
    if (!use.row->is_output) continue;
    for (const std::string& file : use.values) {
      if (file == "-" || file.empty()) continue;
      with_frame([&] { return fmt::format("{} `{}`", canonical_name(*use.row), printable(file)); },
                 [&] { try_to_write(file); });
    }
  }
}

}  // namespace assay::cli
