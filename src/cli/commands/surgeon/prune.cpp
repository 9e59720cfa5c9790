#include "cli/edit/edit_command.h"

namespace assay::cli {
namespace {

int run_surgeon_prune(const Arguments& arguments, Environment& environment) {
  const tasks::EditRequest request = edit_request(arguments, "pruned");
  const surgery::NodeChoice removed = {.op_types = arguments.values("--remove-node-types"),
                                       .names = arguments.values("--remove-nodes")};
  const bool removes = !removed.op_types.empty() || !removed.names.empty();
  return run_edit(arguments, environment, [&](tasks::Observer& observer) {
    return removes ? tasks::remove_nodes(request, removed, observer) : tasks::prune_weights(request, observer);
  });
}

OptionGroup removal_group() {
  return {.title = "Removal",
          .description = "What else can be pruned",
          .rows = {{.names = {"--remove-node-types"},
                    .arity = Arity::one_or_more,
                    .repeat = Repeat::append,
                    .metavar = "OP",
                    .help = "remove all nodes of these types instead of pruning weights",
                    .details = "Consumers of a node's result read its first input instead; nodes whose first input and "
                               "result differ in type are refused."},
                   {.names = {"--remove-nodes"},
                    .arity = Arity::one_or_more,
                    .repeat = Repeat::append,
                    .metavar = "NAME",
                    .help = "the same for nodes of these names, or whose results have them; names may be wildcards"}}};
}

}  // namespace

Command command_surgeon_prune() {
  return {.path = "surgeon prune",
          .summary = "make weights 2:4 structured sparse, or remove nodes",
          .description =
              "Of every 4 consecutive elements of a weight, along the axis that is summed over, the two smallest in "
              "magnitude become zero: weights of Conv, ConvTranspose, MatMul and Gemm in float32, float16 and "
              "bfloat16, if the length of the axis is a multiple of 4. This is for trying out sparse kernels; it does "
              "not keep a model's accuracy. Nothing else in the model changes.",
          .positionals = {model_positional()},
          .groups = edit_groups({removal_group()}),
          .run = run_surgeon_prune,
          .examples = {"assay surgeon prune model.onnx -o sparse.onnx"}};
}

}  // namespace assay::cli
