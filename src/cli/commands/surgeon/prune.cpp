#include "surgery/prune.h"

#include <fmt/format.h>

#include "base/text.h"
#include "cli/edit/edit_job.h"
#include "report/text_sparsity.h"

namespace assay::cli {
namespace {

void prune(EditJob& job) {
  std::vector<results::SkippedWeight> skipped;
  const std::vector<surgery::PrunedWeight> weights = surgery::prune(job.model(), skipped);
  for (const results::SkippedWeight& weight : skipped) {
    job.log().write(weight.worth_a_warning ? LogLevel::warning : LogLevel::verbose, report::skipped_line(weight));
    job.skipped("prune", weight.name, weight.reason);
  }
  job.log().info(fmt::format("Found: {} weight tensor(s) eligible for pruning.", weights.size()));
  for (const surgery::PrunedWeight& weight : weights) {
    const std::string axis = fmt::format("axis {}", weight.axis);
    job.log().verbose(fmt::format("{} tensor: {} along {}", weight.was_sparse ? "Already sparse" : "Pruned",
                                  printable(weight.name), axis));
    weight.was_sparse ? job.skipped("prune", weight.name, "it is 2:4 sparse already")
                      : job.changed("prune", weight.name, axis);
  }
  job.log().info(fmt::format("Finished pruning {} weight tensor(s).", weights.size()));
}

void remove(const Arguments& arguments, EditJob& job) {
  const surgery::NodeChoice choice = {.op_types = arguments.values("--remove-node-types"),
                                      .names = arguments.values("--remove-nodes")};
  const size_t removed = surgery::remove_nodes(job.model(), choice, job.findings());
  std::vector<std::string> words = choice.op_types;
  words.insert(words.end(), choice.names.begin(), choice.names.end());
  job.changed("remove", join(words, ", "), fmt::format("{} node(s)", removed));
  job.log().info(fmt::format("Removed {} node(s).", removed));
}

int run(const Arguments& arguments, Environment& environment) {
  EditJob job("surgeon prune", "pruned", arguments, environment);
  job.load();
  const bool removes = arguments.has("--remove-node-types") || arguments.has("--remove-nodes");
  removes ? remove(arguments, job) : prune(job);
  return job.save();
}

OptionGroup removal_group() {
  return {.title = "Removal",
          .description = "What else can be pruned",
          .rows = {{.names = {"--remove-node-types"},
                    .arity = Arity::one_or_more,
                    .repeat = Repeat::append,
                    .metavar = "OP",
                    .help = "instead of pruning weights, take out all nodes of these types",
                    .details = "What read a node's result reads its first input; nodes whose first input and result "
                               "differ in type are refused."},
                   {.names = {"--remove-nodes"},
                    .arity = Arity::one_or_more,
                    .repeat = Repeat::append,
                    .metavar = "NAME",
                    .help = "the same for nodes of these names, or whose results have them; names may be wildcards"}}};
}

}  // namespace

Command command_surgeon_prune() {
  return {
      .path = "surgeon prune",
      .summary = "make weights 2:4 structured sparse, or take out nodes",
      .description =
          "Of every 4 consecutive elements of a weight, along the axis that is summed over, the two smallest in "
          "magnitude become zero: weights of Conv, ConvTranspose, MatMul and Gemm in float32, float16 and bfloat16, "
          "where the axis is a multiple of 4 long. This is for trying out sparse kernels; it does not keep a "
          "model's accuracy. All else in the model stays as it is.",
      .positionals = {model_positional()},
      .groups = edit_groups({removal_group()}),
      .run = run,
      .examples = {"assay surgeon prune model.onnx -o sparse.onnx"}};
}

}  // namespace assay::cli
