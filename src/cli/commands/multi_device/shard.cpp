#include "cli/options/groups/shard.h"

#include "base/error.h"
#include "cli/edit/edit_command.h"
#include "cli/options/groups/shape_inference.h"

namespace assay::cli {
namespace {

tasks::ShardRequest shard_request(const Arguments& arguments) {
  tasks::ShardRequest request;
  if (arguments.flag("--one-shot") == arguments.has("--hint")) {
    fail(ErrorCode::usage, "expected one of --hint FILE and --one-shot");
  }
  request.options = hint_options(arguments);
  request.options.follows_inputs = !arguments.has("--i-idx");
  request.options.follows_outputs = !arguments.has("--o-idx");
  request.options.follows_k = !arguments.has("--k-idx");
  request.options.follows_v = !arguments.has("--v-idx");
  if (arguments.has("--hint")) request.hints = tasks::read_hints(arguments.value("--hint"));
  request.infers = arguments.flag("--shape-inference");
  request.replaces_files = arguments.has("--output") || arguments.flag("--force");
  return request;
}

// With TP each rank has a model, and a file of weights with a name of its own.
void check_saving(const tasks::ShardRequest& request, const Arguments& arguments, Log& log) {
  const std::string& parallelism = request.hints ? request.hints->parallelism : request.options.base.parallelism;
  if (parallelism != "TP") return;
  if (arguments.flag("--no-save-all-tensors-to-one-file")) {
    fail(ErrorCode::usage, "--no-save-all-tensors-to-one-file: with TP the weights of each rank go into one file");
  }
  if (arguments.value("--save-external-data").empty()) return;
  log.warning("--save-external-data: the name is not used, as each model has a file of its own: NAME.onnx.data");
}

int run_multi_device_shard(const Arguments& arguments, Environment& environment) {
  const tasks::EditRequest edit = edit_request(arguments, "sharded");
  tasks::ShardRequest request = shard_request(arguments);
  request.edit = edit;
  check_saving(request, arguments, environment.log);
  return run_edit(arguments, environment, [&](tasks::Observer& observer) { return tasks::shard(request, observer); });
}

OptionGroup hint_group() {
  return {.title = "Hints",
          .description = "What is split; one of the two",
          .rows = {{.names = {"-s", "--hint"},
                    .metavar = "FILE",
                    .help = "hints that template shard-hints wrote, of this version or of Polygraphy's",
                    .is_file = true},
                   {.names = {"--one-shot"},
                    .arity = Arity::flag,
                    .help = "make the hints from the model, as template shard-hints does"}}};
}

}  // namespace

Command command_multi_device_shard() {
  return {
      .path = "multi-device shard",
      .summary = "split the sequence of attention layers, or weights, over devices",
      .description =
          "Adds DistCollective nodes to the model: inputs are scattered along the sequence, K and V of attention "
          "layers are gathered, and outputs are gathered again, under their names and with their shapes. "
          "DistCollective is an operator of TensorRT, in the default domain as TensorRT expects it; no ONNX runtime "
          "knows it. With --one-shot, sequence dims are those along which the layers work, found by following them to "
          "the inputs and outputs; what does not have the sequence, as a mask of keys, stays whole; --i-idx, --o-idx, "
          "--k-idx and --v-idx say otherwise. With --parallelism TP the weights are split: attention by heads, and "
          "products with activations between them; a DistCollective adds up what the ranks give. Each rank has a model "
          "of its own, <stem>_tp<ranks>_rank<i>.onnx beside the output, with its weights in <the same>.data.",
      .positionals = {model_positional()},
      .groups = edit_groups({hint_group(), shard_group(), shape_inference_group()}),
      .run = run_multi_device_shard,
      .examples = {"assay multi-device shard model.onnx --one-shot -o sharded.onnx"}};
}

}  // namespace assay::cli
