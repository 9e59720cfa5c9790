#include "base/error.h"
#include "library/content.h"
#include "library/observer.h"
#include "tasks/edit.h"

namespace assay {
namespace {

surgery::HintOptions hints_of(const ShardOptions& options) {
  surgery::HintOptions hints;
  hints.base.group_size = options.devices;
  hints.base.groups = options.groups;
  hints.base.root = options.root;
  hints.base.nb_rank = options.ranks;
  hints.follows_inputs = hints.follows_outputs = hints.follows_k = hints.follows_v = true;
  hints.layer.gather_kv = !options.fuse;
  if (options.fuse) {
    formats::FusedAttention fused;
    fused.is_causal = options.is_causal;
    fused.nb_rank = options.ranks;
    hints.layer.replace = std::move(fused);
  }
  return hints;
}

}  // namespace

Model Model::shard(const ShardOptions& options, Observer* observer) const {
  library::TaskObserver watching(observer);
  tasks::ShardRequest request;
  request.edit.model = library::source_of(*this);
  request.options = hints_of(options);
  if (!options.hints.empty()) {
    request.hints = tasks::read_hints(options.hints);
    if (request.hints->parallelism != "CP") fail(ErrorCode::usage, "the hints split weights: see split_weights");
  }
  surgery::check_shard_hints(request.options.base);
  tasks::EditOutcome outcome = tasks::shard(request, watching);
  return library::make_model(std::move(outcome.model), content_->path, outcome.report.findings);
}

std::vector<Model> Model::split_weights(int64_t ranks, Observer* observer) const {
  library::TaskObserver watching(observer);
  tasks::ShardRequest request;
  request.edit.model = library::source_of(*this);
  request.options.base.parallelism = "TP";
  request.options.base.nb_rank = ranks;
  surgery::check_shard_hints(request.options.base);
  tasks::EditOutcome outcome = tasks::shard(request, watching);
  std::vector<Model> models;
  for (ir::Model& model : outcome.ranks) {
    models.push_back(library::make_model(std::move(model), content_->path, outcome.report.findings));
  }
  return models;
}

}  // namespace assay
