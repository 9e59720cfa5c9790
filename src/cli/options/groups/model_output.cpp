#include "cli/options/groups/model_output.h"

#include <filesystem>

#include "base/error.h"
#include "base/paths.h"
#include "base/text.h"
#include "cli/output_files.h"

namespace assay::cli {
namespace fs = std::filesystem;

namespace {

// Beside the model: a name, or the model's with something in it.
fs::path default_path(const std::string& model, std::string_view suffix) {
  if (suffix.find('.') != std::string_view::npos) return fs::path(model).replace_filename(suffix);
  return fs::path(model).replace_extension(fmt::format(".{}.onnx", suffix));
}

}  // namespace

bool is_output_folder(const std::string& path) { return path.ends_with('/') || is_folder(path); }

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
                .replaces_model = is_model,
                .is_per_model = true},
               {.names = {"--force"},
                .arity = Arity::flag,
                .help = "overwrite a file of the default name; one named with --output is always overwritten"}},
  };
}

std::string model_output_path(const Arguments& arguments, const std::string& model, std::string_view suffix,
                              const OutputRules& rules) {
  if (arguments.has("--output")) {
    std::string path = arguments.value("--output");
    if (path.empty()) fail(ErrorCode::usage, "--output: expected the name of a file, got an empty word");
    if (!is_output_folder(path)) return path;
    if (!rules.may_be_folder) {
      fail(ErrorCode::usage, "--output: `{}` is a folder; expected the name of a file", printable(path));
    }
    return (fs::path(path) / default_path(model, suffix).filename()).string();
  }
  if (model == "-")
    fail(ErrorCode::usage, "a model from standard input has no folder: name the output with --output FILE");
  std::string path = default_path(model, suffix).string();
  const bool is_replaceable = arguments.flag("--force") || (rules.may_replace && rules.may_replace(path));
  if (is_there(path) && !is_replaceable) {
    fail(ErrorCode::usage, "`{}` already exists: name another file with --output, or use --force to overwrite it",
         printable(path));
  }
  check_chosen_file(arguments, path, "which the command writes");
  return path;
}

}  // namespace assay::cli
