#include "surgery/shard/shard.h"

#include <filesystem>

#include <fmt/format.h>

#include "base/error.h"
#include "base/paths.h"
#include "base/read_text.h"
#include "base/text.h"
#include "surgery/shard/tensor_parallel.h"
#include "tasks/edit/pass_job.h"

namespace assay::tasks {
namespace {

constexpr std::string_view kTensorParallel = "TP";

formats::ShardHints hints_of(const surgery::HintOptions& options, EditJob& job) {
  formats::ShardHints hints = surgery::make_shard_hints(job.model(), options);
  for (const std::string& line : describe_hints(hints)) job.observer().info(line);
  if (hints.attention_layers.empty()) {
    fail(ErrorCode::usage, "the model has no attention layer: no MatMul, Softmax, MatMul and no operator Attention");
  }
  return hints;
}

// `<stem>_tp<ranks>_rank<i>.onnx`, beside the place that was named.
std::vector<std::string> rank_paths(const ShardRequest& request, int64_t ranks) {
  const std::filesystem::path place(request.edit.output);
  std::vector<std::string> paths;
  for (int64_t rank = 0; rank < ranks; ++rank) {
    const std::string name = fmt::format("{}_tp{}_rank{}.onnx", place.stem().string(), ranks, rank);
    paths.push_back(std::filesystem::path(place).replace_filename(name).string());
    if (!request.replaces_files && is_there(paths.back())) {
      throw Error(ErrorCode::usage, fmt::format("`{}` already exists", printable(paths.back())))
          .remedied_by("replaces_files");
    }
  }
  return paths;
}

void report(const surgery::TensorSharding& done, EditJob& job) {
  size_t sums = 0;
  for (const surgery::ShardStep& step : done.steps) {
    job.observer().verbose(
        fmt::format("{}: {}{}{}", step.action, step.name, step.detail.empty() ? "" : ": ", step.detail));
    job.changed(step.action, step.name, step.detail);
    if (step.action == "all_reduce") ++sums;
  }
  for (const surgery::LeftWhole& left : done.left) {
    const std::string line = fmt::format("{} is not split: {}", left.node, left.reason);
    left.is_attention ? job.observer().warning(line) : job.observer().info(line);
    job.skipped("split", left.node, left.reason);
  }
  job.observer().info(fmt::format("Split {} constants; {} sum(s) over ranks", done.weights.size(), sums));
}

EditOutcome shard_tensors(const formats::ShardHints& hints, std::span<const std::string> paths, EditJob& job) {
  const surgery::TensorSharding done = surgery::shard_tensors(job.model(), hints);
  report(done, job);
  const auto make = [&](size_t rank) { surgery::set_rank(job.model(), done, static_cast<int64_t>(rank)); };
  return paths.empty() ? job.keep_each(static_cast<size_t>(hints.nb_rank), make) : job.save_each(paths, make);
}

void report(const surgery::Sharding& done, EditJob& job) {
  for (const surgery::ShardStep& step : done.steps) {
    job.observer().verbose(fmt::format("{}: {}", step.action, step.name));
    job.changed(step.action, step.name, "");
  }
  for (const std::string& q : done.unmatched) {
    job.observer().warning(fmt::format("no attention layer reads `{}` as Q", printable(q)));
    job.skipped("gather", q, "no attention layer reads it as Q");
  }
  if (!done.misfit.empty()) {
    job.observer().warning(
        fmt::format("the sharded model cannot run; is the sequence in another dim? {}", done.misfit));
  }
  job.observer().info(fmt::format("Inserted {} collectives and fused nodes", done.steps.size()));
}

}  // namespace

EditOutcome shard(const ShardRequest& request, Observer& observer) {
  EditJob job("multi-device shard", request.edit, observer);
  const formats::ShardHints& given = request.hints ? *request.hints : request.options.base;
  const bool splits_weights = given.parallelism == kTensorParallel;
  std::vector<std::string> paths;
  if (splits_weights && !request.edit.output.empty()) paths = rank_paths(request, given.nb_rank);
  job.load();
  run_passes({.sorts = true, .passes = {}, .options = {}}, job);
  if (request.infers) infer_shapes(job.loaded());
  if (splits_weights) return shard_tensors(given, paths, job);
  report(surgery::shard(job.model(), request.hints ? given : hints_of(request.options, job)), job);
  return job.save();
}

std::vector<std::string> describe_hints(const formats::ShardHints& hints) {
  std::vector<std::string> lines;
  for (const formats::AttentionLayerHint& layer : hints.attention_layers) {
    lines.push_back("Found attention layer with Q tensor " + printable(layer.q));
  }
  for (const std::vector<formats::ShardTensor>& tensors : {hints.inputs, hints.outputs}) {
    for (const formats::ShardTensor& tensor : tensors) {
      lines.push_back(
          fmt::format("Found dependent tensor {}: sequence dim {}", printable(tensor.name), tensor.seq_len_idx));
    }
  }
  return lines;
}

formats::ShardHints make_hints(const ModelSource& model, const surgery::HintOptions& options, bool infers,
                               Observer& observer) {
  LoadedModel loaded = load_model(model, observer);
  if (infers) infer_shapes(loaded);
  tell_findings(loaded.findings, observer);
  return surgery::make_shard_hints(loaded.model, options);
}

formats::ShardHints read_hints(const std::string& path) {
  return with_frame([&] { return fmt::format("`{}`", printable(path)); },
                    [&] {
                      formats::ShardHints hints = formats::parse_shard_hints(read_text(path));
                      surgery::check_shard_hints(hints);
                      return hints;
                    });
}

}  // namespace assay::tasks
