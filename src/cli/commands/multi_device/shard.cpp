#include "surgery/shard/shard.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "cli/edit/pass_job.h"
#include "cli/options/groups/shape_inference.h"
#include "cli/options/groups/shard.h"

namespace assay::cli {
namespace {

formats::ShardHints read_hints(const std::string& path) {
  const std::shared_ptr<const MappedFile> file = MappedFile::open(path);
  const Bytes bytes = file->bytes();
  return with_frame([&] { return fmt::format("`{}`", printable(path)); },
                    [&] {
                      formats::ShardHints hints =
                          formats::parse_shard_hints({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
                      surgery::check_shard_hints(hints);
                      return hints;
                    });
}

formats::ShardHints make_hints(const surgery::HintOptions& options, EditJob& job) {
  formats::ShardHints hints = surgery::make_shard_hints(job.model(), options);
  for (const std::string& line : describe_hints(hints)) job.log().info(line);
  if (hints.attention_layers.empty()) {
    fail(ErrorCode::usage, "the model has no attention layer: no MatMul, Softmax, MatMul and no operator Attention");
  }
  return hints;
}

void report(const surgery::Sharding& done, EditJob& job) {
  for (const surgery::ShardStep& step : done.steps) {
    job.log().verbose(fmt::format("{}: {}", step.action, step.name));
    job.changed(step.action, step.name, "");
  }
  for (const std::string& q : done.unmatched) {
    job.log().warning(fmt::format("no attention layer reads `{}` as Q", printable(q)));
    job.skipped("gather", q, "no attention layer reads it as Q");
  }
  job.log().info(fmt::format("Inserted {} collectives and fused nodes", done.steps.size()));
}

int run(const Arguments& arguments, Environment& environment) {
  EditJob job("multi-device shard", "sharded", arguments, environment);
  const bool is_one_shot = arguments.flag("--one-shot");
  if (is_one_shot == arguments.has("--hint")) {
    fail(ErrorCode::usage, "expected one of --hint FILE and --one-shot");
  }
  const surgery::HintOptions options = hint_options(arguments);
  formats::ShardHints hints;
  if (!is_one_shot) hints = read_hints(arguments.value("--hint"));
  job.load();
  run_passes({.sorts = true, .passes = {}, .options = {}}, job);
  if (arguments.flag("--shape-inference")) infer_shapes(job.loaded());
  if (is_one_shot) hints = make_hints(options, job);
  report(surgery::shard(job.model(), hints), job);
  return job.save();
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
      .summary = "split the sequence of attention layers over devices",
      .description =
          "Puts DistCollective nodes into the model: inputs are scattered along the sequence, K and V of attention "
          "layers are gathered, and outputs are gathered again, under their names and with their shapes. "
          "DistCollective is an operator of TensorRT, in the default domain as TensorRT expects it; no ONNX runtime "
          "knows it.",
      .positionals = {model_positional()},
      .groups = edit_groups({hint_group(), shard_group(), shape_inference_group()}),
      .run = run};
}

}  // namespace assay::cli
