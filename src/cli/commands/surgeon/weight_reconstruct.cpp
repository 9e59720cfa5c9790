#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "cli/edit/edit_job.h"
#include "cli/options/values.h"
#include "onnx/load.h"
#include "surgery/reconstruct.h"

namespace assay::cli {
namespace {

std::vector<std::string> reconstruct(EditJob& job, const Arguments& arguments, uint64_t seed) {
  if (!arguments.has("--weights")) return surgery::reconstruct(job.model(), seed);
  const std::string path = arguments.value("--weights");
  const auto frame = [&] { return fmt::format("weights of `{}`", printable(path)); };
  return with_frame(frame, [&] {
    Diagnostics unused;
    const ir::Model full = onnx::load(path, {}, unused);
    return surgery::reconstruct(job.model(), full);
  });
}

int run(const Arguments& arguments, Environment& environment) {
  EditJob job("surgeon weight-reconstruct", "reconstructed", arguments, environment);
  const uint64_t seed = parse_count("--seed", arguments.value("--seed"));
  if (arguments.has("--seed") && arguments.has("--weights")) {
    fail(ErrorCode::usage, "--seed and --weights exclude each other");
  }
  job.load();
  const std::vector<std::string> names = reconstruct(job, arguments, seed);
  for (const std::string& name : names) {
    job.log().verbose("Reconstructed weight: " + printable(name));
    job.changed("reconstruct", name, "");
  }
  job.log().info(fmt::format("Finished reconstructing {} weights", names.size()));
  return job.save();
}

OptionGroup reconstruction_group() {
  return {.title = "Reconstruction",
          .description = "Where the elements come from",
          .rows = {{.names = {"--seed"}, .default_value = "1", .help = "seed of the made-up elements"},
                   {.names = {"--weights"},
                    .metavar = "MODEL",
                    .help = "take the elements from this model, which has weights of the same names, instead",
                    .is_file = true}}};
}

}  // namespace

Command command_surgeon_weight_reconstruct() {
  return {
      .path = "surgeon weight-reconstruct",
      .summary = "fill the weights of a stripped model",
      .description =
          "Weights that surgeon weight-strip emptied get made-up elements, standard-normal numbers that depend on the "
          "seed alone, or those of another model. What was 2:4 sparse is so again. The marks of stripping go, so "
          "that stripping again gives the same file.",
      .positionals = {model_positional()},
      .groups = edit_groups({reconstruction_group()}),
      .run = run,
      .examples = {"assay surgeon weight-reconstruct stripped.onnx -o full.onnx"}};
}

}  // namespace assay::cli
