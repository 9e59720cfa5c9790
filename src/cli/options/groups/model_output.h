#pragma once

#include <string>
#include <string_view>

#include "cli/options/arguments.h"
#include "cli/options/spec.h"

namespace assay::cli {

// `-o`, `--force`: where a changed model goes; or, if it is no model, what is found out about one.
OptionGroup model_output_group(bool is_model = true);
// What `-o` says; without it `<model>.<suffix>.onnx` beside the model, or the file `suffix` there if that has a dot. It
// is an Error (usage) if this one exists, unless `--force` is given, and if the model has no place (`-`). The model's
// own file is allowed.
std::string model_output_path(const Arguments& arguments, const std::string& model, std::string_view suffix);

}  // namespace assay::cli
