#include "base/read_text.h"
#include "base/text.h"
#include "cli/edit/edit_command.h"

namespace assay::cli {
namespace {

// One name a line; blanks at the end of a line do not count.
std::vector<std::string> read_names(const std::string& path) {
  const std::string text = read_text(path);
  std::vector<std::string> names;
  for (std::string_view line : split(text, '\n')) {
    line = line.substr(0, line.find_last_not_of(" \t\r") + 1);
    if (!line.empty()) names.emplace_back(line);
  }
  return names;
}

int run_surgeon_weight_strip(const Arguments& arguments, Environment& environment) {
  const tasks::EditRequest request = edit_request(arguments, "stripped");
  std::vector<std::string> excluded;
  if (arguments.has("--exclude-list")) excluded = read_names(arguments.value("--exclude-list"));
  return run_edit(arguments, environment,
                  [&](tasks::Observer& observer) { return tasks::strip_weights(request, excluded, observer); });
}

OptionGroup strip_group() {
  return {.title = "Stripping",
          .description = "What is stripped",
          .rows = {{.names = {"--exclude-list"},
                    .metavar = "FILE",
                    .help = "names of initializers that keep their elements, one per line",
                    .is_file = true}}};
}

}  // namespace

Command command_surgeon_weight_strip() {
  return {.path = "surgeon weight-strip",
          .summary = "empty the weights of a model, so that it can be passed on without them",
          .description =
              "Weights of Conv, ConvTranspose, Gemm and MatMul, large tables of Gather and Slice, and large operands "
              "of unknown operators lose their elements, also before QuantizeLinear, DequantizeLinear and Transpose, "
              "and in bodies. Names, types and shapes stay; marks in the documentation say that elements are missing, "
              "and whether they were 2:4 sparse. surgeon weight-reconstruct puts elements back.",
          .positionals = {model_positional()},
          .groups = edit_groups({strip_group()}),
          .run = run_surgeon_weight_strip,
          .examples = {"assay surgeon weight-strip model.onnx -o stripped.onnx"}};
}

}  // namespace assay::cli
