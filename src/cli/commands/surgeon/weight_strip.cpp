#include <fmt/format.h>

#include "base/files.h"
#include "base/text.h"
#include "cli/edit/edit_job.h"
#include "surgery/strip.h"

namespace assay::cli {
namespace {

// One name a line; blanks at the end of a line do not count.
std::vector<std::string> read_names(const std::string& path) {
  const std::shared_ptr<const MappedFile> file = MappedFile::open(path);
  const Bytes bytes = file->bytes();
  std::vector<std::string> names;
  for (std::string_view line : split({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, '\n')) {
    line = line.substr(0, line.find_last_not_of(" \t\r") + 1);
    if (!line.empty()) names.emplace_back(line);
  }
  return names;
}

int run(const Arguments& arguments, Environment& environment) {
  EditJob job("surgeon weight-strip", "stripped", arguments, environment);
  std::vector<std::string> excluded;
  if (arguments.has("--exclude-list")) excluded = read_names(arguments.value("--exclude-list"));
  ir::Model& model = job.load();
  job.log().info("Weights that nodes compute are not found: fold constants before stripping");
  const std::vector<surgery::StrippedWeight> weights = surgery::strip(model, excluded, job.findings());
  for (const surgery::StrippedWeight& weight : weights) {
    if (weight.is_sparse) job.log().info("Found sparse tensor: " + printable(weight.name));
    job.log().verbose("Stripped weight: " + printable(weight.name));
    job.changed("strip", weight.name, weight.is_sparse ? "2:4 sparse" : "");
  }
  job.log().info(fmt::format("Finished stripping {} weights", weights.size()));
  return job.save();
}

OptionGroup strip_group() {
  return {.title = "Stripping",
          .description = "What is stripped",
          .rows = {{.names = {"--exclude-list"},
                    .metavar = "FILE",
                    .help = "names of initializers that keep their elements, one a line",
                    .is_file = true}}};
}

}  // namespace

Command command_surgeon_weight_strip() {
  return {
      .path = "surgeon weight-strip",
      .summary = "empty the weights of a model, so that it can be passed on without them",
      .description =
          "Weights of Conv, ConvTranspose, Gemm and MatMul, large tables of Gather and Slice, and large operands of "
          "unknown operators lose their elements, also behind QuantizeLinear, DequantizeLinear and Transpose, and in "
          "bodies. Names, types and shapes stay; marks in the documentation say that elements are missing, and "
          "whether they were 2:4 sparse. surgeon weight-reconstruct puts elements back.",
      .positionals = {model_positional()},
      .groups = edit_groups({strip_group()}),
      .run = run,
      .examples = {"assay surgeon weight-strip model.onnx -o stripped.onnx"}};
}

}  // namespace assay::cli
