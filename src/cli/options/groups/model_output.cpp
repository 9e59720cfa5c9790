#include "cli/options/groups/model_output.h"

#include <filesystem>

#include "base/error.h"
#include "base/paths.h"
#include "base/text.h"
#include "cli/output_files.h"

namespace assay::cli {
namespace fs = std::filesystem;

OptionGroup model_output_group(bool is_model) {
  return {
      .title = "Output",
      .description = "Where the changed model is written",
      .rows = {{.names = {"-o", "--output"},
                .metavar = "FILE",
                .help = "the file to write; by default a file next to the model, whose name is printed",
                .details = is_model
                               ? "It may be the model itself: the old file is replaced when the new one is complete."
                               : std::string_view(),
                .is_file = true,
                .is_output = true,
                .replaces_model = is_model},
               {.names = {"--force"},
                .arity = Arity::flag,
                .help = "overwrite a file of the default name; one named with --output is always overwritten"}},
  };
}

std::string model_output_path(const Arguments& arguments, const std::string& model, std::string_view suffix) {
  return model_output_path(arguments, model, suffix, [](const std::string&) { return false; });
}

std::string model_output_path(const Arguments& arguments, const std::string& model, std::string_view suffix,
                              FunctionRef<bool(const std::string&)> may_replace) {
  if (arguments.has("--output")) {
    std::string path = arguments.value("--output");
    if (path.empty()) fail(ErrorCode::usage, "--output: expected the name of a file, got an empty word");
    if (is_folder(path)) {
      fail(ErrorCode::usage, "--output: `{}` is a folder; expected the name of a file", printable(path));
    }
    return path;
  }
  if (model == "-")
    fail(ErrorCode::usage, "a model from standard input has no folder: name the output with --output FILE");
  const bool is_name = suffix.find('.') != std::string_view::npos;
  std::string path = (is_name ? fs::path(model).replace_filename(suffix)
                              : fs::path(model).replace_extension(fmt::format(".{}.onnx", suffix)))
                         .string();
  if (!arguments.flag("--force") && is_there(path) && !may_replace(path)) {
    fail(ErrorCode::usage, "`{}` already exists: name another file with --output, or use --force to overwrite it",
         printable(path));
  }
  check_chosen_file(arguments, path, "which the command writes");
  return path;
}

}  // namespace assay::cli
