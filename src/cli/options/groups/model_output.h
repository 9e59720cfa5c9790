#pragma once

#include <string>
#include <string_view>

#include "base/function_ref.h"
#include "cli/options/arguments.h"
#include "cli/options/spec.h"

namespace assay::cli {

// `-o`, `--force`: the file for a changed model, or for a result other than a model.
OptionGroup model_output_group(bool is_model = true);
// The file of `-o`; by default `<model>.<suffix>.onnx` next to the model, or the file `suffix` there if that has a dot.
// Error (usage) if the default exists, `--force` is not given and `may_replace` does not hold, or if the model has no
// folder (`-`). The model's own file is allowed.
std::string model_output_path(const Arguments& arguments, const std::string& model, std::string_view suffix,
                              FunctionRef<bool(const std::string&)> may_replace);
std::string model_output_path(const Arguments& arguments, const std::string& model, std::string_view suffix);

}  // namespace assay::cli
