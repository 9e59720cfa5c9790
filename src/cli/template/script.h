#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/environment.h"
#include "cli/options/spec.h"

namespace assay::cli {

// Scripts that `template` writes.

// `-o FILE`, which is required.
OptionRow script_output_row();
// Writes an executable file, or to standard output.
void write_script(const std::string& path, const std::string& text, Environment& environment);

// `['a', 'b']`
std::string python_list(const std::vector<std::string>& texts);
// The first lines: what the script is for, and imports of `names` from our package, or where it is not installed, from
// the peer's.
std::string script_head(std::string_view purpose, std::string_view names);

}  // namespace assay::cli
