#include "base/error.h"
#include "cli/edit/edit_command.h"
#include "cli/options/values.h"

namespace assay::cli {
namespace {

int run_surgeon_weight_reconstruct(const Arguments& arguments, Environment& environment) {
  const tasks::EditRequest request = edit_request(arguments, "reconstructed");
  const uint64_t seed = parse_count("--seed", arguments.value("--seed"));
  if (arguments.has("--seed") && arguments.has("--weights")) {
    fail(ErrorCode::usage, "--seed and --weights exclude each other");
  }
  const tasks::ModelSource weights = {.path = arguments.value("--weights")};
  return run_edit(arguments, environment, [&](tasks::Observer& observer) {
    return tasks::reconstruct_weights(request, weights, seed, observer);
  });
}

OptionGroup reconstruction_group() {
  return {.title = "Reconstruction",
          .description = "Where the elements come from",
          .rows = {{.names = {"--seed"}, .default_value = "1", .help = "seed of the random elements"},
                   {.names = {"--weights"},
                    .metavar = "MODEL",
                    .help = "take the elements from this model, which has weights of the same names",
                    .is_file = true}}};
}

}  // namespace

Command command_surgeon_weight_reconstruct() {
  return {.path = "surgeon weight-reconstruct",
          .summary = "fill the weights of a stripped model",
          .description =
              "Weights that surgeon weight-strip emptied get random elements, standard-normal numbers that depend on "
              "the seed alone, or those of another model. Weights that were 2:4 sparse are so again. The marks of "
              "stripping are removed, so that stripping again gives the same file.",
          .positionals = {model_positional()},
          .groups = edit_groups({reconstruction_group()}),
          .run = run_surgeon_weight_reconstruct,
          .examples = {"assay surgeon weight-reconstruct stripped.onnx -o full.onnx"}};
}

}  // namespace assay::cli
