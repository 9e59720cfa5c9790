#include "surgery/shard/shard.h"

#include <filesystem>

#include <fmt/format.h>

#include "base/error.h"
#include "base/files.h"
#include "base/paths.h"
#include "base/text.h"
#include "cli/edit/pass_job.h"
#include "cli/options/groups/shape_inference.h"
#include "cli/options/groups/shard.h"
#include "surgery/shard/tensor_parallel.h"

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

// `<stem>_tp<ranks>_rank<i>.onnx`, beside the place that was named.
std::vector<std::string> rank_paths(const Arguments& arguments, const std::string& output, int64_t ranks) {
  const std::filesystem::path place(output);
  std::vector<std::string> paths;
  for (int64_t rank = 0; rank < ranks; ++rank) {
    const std::string name = fmt::format("{}_tp{}_rank{}.onnx", place.stem().string(), ranks, rank);
    paths.push_back(std::filesystem::path(place).replace_filename(name).string());
    if (!arguments.has("--output") && !arguments.flag("--force") && is_there(paths.back())) {
      fail(ErrorCode::usage, "`{}` is there already: say --output FILE, or --force to overwrite it",
           printable(paths.back()));
    }
  }
  return paths;
}

void report(const surgery::TensorSharding& done, EditJob& job) {
  size_t sums = 0;
  for (const surgery::ShardStep& step : done.steps) {
    job.log().verbose(fmt::format("{}: {}{}{}", step.action, step.name, step.detail.empty() ? "" : ": ", step.detail));
    job.changed(step.action, step.name, step.detail);
    if (step.action == "all_reduce") ++sums;
  }
  for (const surgery::LeftWhole& left : done.left) {
    job.log().write(left.is_attention ? LogLevel::warning : LogLevel::info,
                    fmt::format("{} stays whole: {}", left.node, left.reason));
    job.skipped("split", left.node, left.reason);
  }
  job.log().info(fmt::format("Split {} constants; {} sum(s) over ranks", done.weights.size(), sums));
}

int shard_tensors(const formats::ShardHints& hints, std::span<const std::string> paths, EditJob& job) {
  const surgery::TensorSharding done = surgery::shard_tensors(job.model(), hints);
  report(done, job);
  return job.save_each(paths, [&](size_t rank) { surgery::set_rank(job.model(), done, static_cast<int64_t>(rank)); });
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
  if (!done.misfit.empty()) {
    job.log().warning(fmt::format("the model cannot run like that, is the sequence in another dim? {}", done.misfit));
  }
  job.log().info(fmt::format("Inserted {} collectives and fused nodes", done.steps.size()));
}

int run(const Arguments& arguments, Environment& environment) {
  EditJob job("multi-device shard", "sharded", arguments, environment);
  const bool is_one_shot = arguments.flag("--one-shot");
  if (is_one_shot == arguments.has("--hint")) {
    fail(ErrorCode::usage, "expected one of --hint FILE and --one-shot");
  }
  surgery::HintOptions options = hint_options(arguments);
  options.follows_inputs = !arguments.has("--i-idx");
  options.follows_outputs = !arguments.has("--o-idx");
  options.follows_k = !arguments.has("--k-idx");
  options.follows_v = !arguments.has("--v-idx");
  formats::ShardHints hints;
  hints = is_one_shot ? options.base : read_hints(arguments.value("--hint"));
  const bool splits_weights = hints.parallelism == "TP";
  std::vector<std::string> paths;
  if (splits_weights) {
    if (arguments.flag("--no-save-all-tensors-to-one-file")) {
      fail(ErrorCode::usage, "--no-save-all-tensors-to-one-file: with TP the weights of each rank go into one file");
    }
    paths = rank_paths(arguments, job.output(), hints.nb_rank);
  }
  job.load();
  run_passes({.sorts = true, .passes = {}, .options = {}}, job);
  if (arguments.flag("--shape-inference")) infer_shapes(job.loaded());
  if (splits_weights) return shard_tensors(hints, paths, job);
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
      .summary = "split the sequence of attention layers, or weights, over devices",
      .description =
          "Puts DistCollective nodes into the model: inputs are scattered along the sequence, K and V of attention "
          "layers are gathered, and outputs are gathered again, under their names and with their shapes. "
          "DistCollective is an operator of TensorRT, in the default domain as TensorRT expects it; no ONNX runtime "
          "knows it. With --one-shot, sequence dims are those along which the layers work, found by following them to "
          "the "
          "inputs and outputs; what does not have the sequence, as a mask of keys, stays whole; --i-idx, --o-idx, "
          "--k-idx and --v-idx say otherwise. With --parallelism TP the weights are split: attention by heads, and "
          "products with activations "
          "between them; a DistCollective adds up what the ranks give. Each rank has a model of its own, "
          "<stem>_tp<ranks>_rank<i>.onnx beside the output, with its weights in <the same>.data.",
      .positionals = {model_positional()},
      .groups = edit_groups({hint_group(), shard_group(), shape_inference_group()}),
      .run = run,
      .examples = {"assay multi-device shard model.onnx --one-shot -o sharded.onnx"}};
}

}  // namespace assay::cli
