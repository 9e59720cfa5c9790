#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "cli/environment.h"
#include "cli/log_observer.h"
#include "cli/options/groups/logging.h"
#include "cli/options/groups/model.h"
#include "cli/options/groups/shape_inference.h"
#include "cli/options/groups/shard.h"

namespace assay::cli {
namespace {

int run_template_shard_hints(const Arguments& arguments, Environment& environment) {
  const std::string path = arguments.value("--output");
  if (!path.ends_with(".json")) {
    fail(ErrorCode::usage, "--output: expected a name that ends in .json, found `{}`", printable(path));
  }
  const surgery::HintOptions options = hint_options(arguments);
  LogObserver observer(arguments, environment);
  const formats::ShardHints hints = tasks::make_hints(model_source(arguments.value("model_file"), arguments), options,
                                                      arguments.flag("--shape-inference"), observer);
  for (const std::string& line : tasks::describe_hints(hints)) environment.log.info(line);
  if (hints.attention_layers.empty() && hints.parallelism == "CP")
    environment.log.warning("the model has no attention layer");
  environment.log.info("Saving shard hints to " + printable(path));
  OutputFile file(path);
  formats::write_shard_hints(hints, file);
  file.commit();
  return kExitEqual;
}

OptionGroup output_group_of_hints() {
  return {.title = "Output",
          .description = "Where the hints are written",
          .rows = {{.names = {"-o", "--output"},
                    .metavar = "FILE",
                    .help = "the file to write; its name ends in .json",
                    .is_file = true,
                    .is_output = true,
                    .required = true}}};
}

}  // namespace

Command command_template_shard_hints() {
  return {.path = "template shard-hints",
          .summary = "write hints by which multi-device shard splits a model",
          .description =
              "Finds the attention layers of the model (MatMul, Softmax, MatMul with scales, masks and casts between, "
              "or the operator Attention) and the inputs and outputs connected to them, and writes them as JSON, to be "
              "edited.",
          .positionals = {model_positional()},
          .groups = {logging_group(), model_group(), onnx_load_group(), shape_inference_group(), shard_group(),
                     output_group_of_hints()},
          .run = run_template_shard_hints,
          .examples = {"assay template shard-hints model.onnx -o hints.json"}};
}

}  // namespace assay::cli
