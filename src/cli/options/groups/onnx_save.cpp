#include "cli/options/groups/onnx_save.h"

#include <filesystem>

#include "base/error.h"
#include "cli/options/values.h"

namespace assay::cli {

OptionGroup onnx_save_group() {
  return {
      .title = "ONNX Model Saving",
      .description = "Where the weights of a written model are stored",
      .rows = {{.names = {"--save-external-data", "--external-data-path"},
                .arity = Arity::optional,
                .metavar = "NAME",
                .help = "write weights into a file of this name next to the model; default: MODEL.data"},
               {.names = {"--external-data-size-threshold"},
                .metavar = "SIZE",
                .default_value = "1024",
                .help = "weights that are not larger stay in the model file"},
               {.names = {"--no-save-all-tensors-to-one-file"},
                .arity = Arity::flag,
                .help = "write each weight into a file of its own"}},
  };
}

onnx::SaveOptions save_options(const Arguments& arguments, const std::string& path) {
  onnx::SaveOptions options;
  options.external_folder = arguments.value("--external-data-dir");
  const bool is_external = arguments.has("--save-external-data");
  for (const std::string_view dependent : {"--external-data-size-threshold", "--no-save-all-tensors-to-one-file"}) {
    if (arguments.has(dependent) && !is_external) fail(ErrorCode::usage, "{} needs --save-external-data", dependent);
  }
  if (!is_external) return options;
  const std::string name = arguments.value("--save-external-data");
  options.external_name = name.empty() ? std::filesystem::path(path).filename().string() + ".data" : name;
  options.threshold =
      parse_size("--external-data-size-threshold", arguments.value("--external-data-size-threshold"), 0);
  options.one_file = !arguments.flag("--no-save-all-tensors-to-one-file");
  return options;
}

}  // namespace assay::cli
