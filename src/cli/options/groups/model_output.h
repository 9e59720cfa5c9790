#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "cli/options/arguments.h"
#include "cli/options/spec.h"

namespace assay::cli {

// `-o`, `--force`: the file for a changed model, or for a result other than a model.
OptionGroup model_output_group(bool is_model = true);
// The file of `-o`; by default `<model>.<suffix>.onnx` next to the model, or the file `suffix` there if that has a dot.
// Error (usage) if the default exists, `--force` is not given and `may_replace` does not hold, or if the model has no
// folder (`-`). The model's own file is allowed. Where `-o` names a folder and may, the result has its default name in
// it.
struct OutputRules {
  bool may_be_folder = false;
  std::function<bool(const std::string& path)> may_replace = {};
};
std::string model_output_path(const Arguments& arguments, const std::string& model, std::string_view suffix,
                              const OutputRules& rules = {});
// A folder that is there, or a name that ends in `/`.
bool is_output_folder(const std::string& path);

}  // namespace assay::cli
