#include "tasks/edit/edit_job.h"

#include <filesystem>
#include <utility>

#include "base/text.h"
#include "surgery/boundary_types.h"
#include "tasks/save.h"

namespace assay::tasks {
namespace {

results::ModelSize size_of(const ir::Model& model) {
  results::ModelSize size;
  for (uint32_t i = 0; i < model.graph_slots(); ++i) {
    const ir::Graph& graph = model[ir::GraphId{i}];
    size.nodes += graph.node_count;
    size.initializers += graph.initializers.size();
    for (const ir::ValueId id : graph.initializers) {
      const ir::TensorEntry& entry = model[model[id].constant];
      if (!entry.stripped) size.initializer_bytes += entry.tensor.size_bytes();
    }
  }
  return size;
}

}  // namespace

EditJob::EditJob(std::string_view name, const EditRequest& request, Observer& observer)
    : request_(request), observer_(observer) {
  report_.command = name;
  report_.model = request.model.path;
  report_.output = request.output;
}

ir::Model& EditJob::load() {
  loaded_ = load_model(request_.model, observer_);
  show(ModelStage::original);
  report_.before = size_of(loaded_->model);
  return loaded_->model;
}

void EditJob::changed(std::string_view action, std::string name, std::string detail) {
  report_.changes.push_back({std::string(action), std::move(name), std::move(detail)});
}

void EditJob::skipped(std::string_view action, std::string name, std::string detail) {
  report_.skipped.push_back({std::string(action), std::move(name), std::move(detail)});
}

EditOutcome EditJob::save() {
  check_cancelled(observer_);
  const Stopwatch saving;
  if (request_.output.empty())
    surgery::complete_outputs(model());
  else
    save_model(model(), request_.output, request_.save, observer_);
  const double save_seconds = saving.seconds();
  show(ModelStage::changed);
  return finish(save_seconds);
}

EditOutcome EditJob::save_each(std::span<const std::string> paths, FunctionRef<void(size_t index)> make) {
  const Stopwatch saving;
  std::vector<onnx::PendingSave> pending;
  onnx::SaveOptions options = request_.save;
  for (size_t i = 0; i < paths.size(); ++i) {
    check_cancelled(observer_);
    make(i);
    surgery::complete_outputs(model());
    observer_.info("Saving ONNX model to: " + printable(paths[i]));
    options.external_name = std::filesystem::path(paths[i]).filename().string() + ".data";
    pending.emplace_back(model(), paths[i], options);
  }
  for (onnx::PendingSave& file : pending) file.commit();
  const double save_seconds = saving.seconds();
  report_.output = paths.front();
  report_.outputs.assign(paths.begin(), paths.end());
  show(ModelStage::one_of_several);
  return finish(save_seconds);
}

EditOutcome EditJob::keep_each(size_t count, FunctionRef<void(size_t index)> make) {
  std::vector<ir::Model> models;
  for (size_t i = 0; i < count; ++i) {
    check_cancelled(observer_);
    make(i);
    surgery::complete_outputs(model());
    models.push_back(model().copy());
  }
  show(ModelStage::one_of_several);
  EditOutcome outcome = finish(0);
  outcome.ranks = std::move(models);
  return outcome;
}

EditOutcome EditJob::finish(double save_seconds) {
  report_.after = size_of(model());
  report_.findings = findings().all();
  report_.timings = {
      {"load_seconds", loaded_->load_seconds}, {"save_seconds", save_seconds}, {"total_seconds", total_.seconds()}};
  return {std::move(report_), std::move(loaded_->model)};
}

// Findings are told once, before the model that follows them.
void EditJob::show(ModelStage stage) {
  const std::vector<Diagnostic>& all = findings().all();
  for (; told_findings_ < all.size(); ++told_findings_) observer_.on_finding(all[told_findings_]);
  observer_.on_model(stage, model());
}

}  // namespace assay::tasks
