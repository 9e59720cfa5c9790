#include "base/error.h"
#include "base/text.h"
#include "cli/data_commands.h"

namespace assay::cli {
namespace {

void rename(formats::SavedData& data, const std::string& text) {
  const size_t at = text.find('=');
  if (at == std::string::npos || at == 0 || at + 1 == text.size()) {
    fail(ErrorCode::usage, "option `--rename`: expected OLD=NEW, got `{}`", printable(text));
  }
  formats::rename_arrays(data, text.substr(0, at), text.substr(at + 1));
}

int run(const Arguments& arguments, Environment& environment) {
  formats::SavedData data = formats::load_data(arguments.value("path"));
  if (arguments.has("--runner")) formats::choose_runner(data, arguments.value("--runner"));
  for (const std::string& text : arguments.values("--rename")) rename(data, text);
  save_data(data, arguments, environment);
  return kExitEqual;
}

OptionGroup change_group() {
  return {
      .title = "Content",
      .description = "What is kept, and under which names",
      .rows = {
          {.names = {"--runner"}, .metavar = "NAME", .help = "keep the outputs of this runner; wildcards are allowed"},
          {.names = {"--rename"},
           .repeat = Repeat::append,
           .metavar = "OLD=NEW",
           .help = "rename an array in all iterations"}}};
}

}  // namespace

Command command_data_convert() {
  return {.path = "data convert",
          .summary = "write inputs or outputs in another form of file",
          .description =
              "Reads JSON, .npz, .npy, .safetensors, a folder of one JSON file an iteration, or a .raw folder, and "
              "writes the form that the name of the output says. .npz, .npy and .safetensors hold one iteration; they "
              "and .raw know no runners, so of outputs of several runners one must be chosen.",
          .positionals = {{.names = {"path"}, .help = "file or folder of inputs or outputs", .is_file = true}},
          .groups = {logging_group(), data_output_group(), change_group()},
          .run = run,
          .examples = {"assay data convert outputs.json -o outputs.npz"}};
}

}  // namespace assay::cli
