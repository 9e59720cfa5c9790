#pragma once

#include <filesystem>
#include <string_view>

#include "cli/options/arguments.h"
#include "ir/model.h"

namespace assay::cli {

// Error (usage) if an output file is also read, or written by another option, even under another name. Only an option
// with `replaces_model` may name the model itself.
void check_output_files(const Arguments& arguments);

// Checks the files with the model's external data, which are known once it is loaded, as check_output_files does.
void check_external_files(const Arguments& arguments, const ir::Model& model, const std::filesystem::path& folder);

// Checks a file whose name the command chose itself; `what` describes it.
void check_chosen_file(const Arguments& arguments, const std::filesystem::path& path, std::string_view what);

}  // namespace assay::cli
