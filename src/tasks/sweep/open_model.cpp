#include "tasks/sweep/open_model.h"

#include "ir/queries.h"
#include "remote/isolated_backend.h"
#include "sweep/folder.h"
#include "tasks/sweep/variants.h"

namespace assay::tasks {
namespace {

LoadedModel load_runnable(const std::string& path) {
  Observer nobody;
  ModelSource source;
  source.path = path;
  LoadedModel loaded = load_model(source, nobody);
  require_runnable(loaded);
  return loaded;
}

}  // namespace

OpenModel::OpenModel(const SweepRequest& request, const results::SweepPlan& plan, size_t number)
    : request_(request),
      plan_(plan),
      path_(plan.models[number].path),
      loaded_(load_runnable(path_)),
      signature_(exec::signature_of(loaded_.model)),
      samples_(open_samples(request, plan, loaded_.model)),
      columns_(plan.columns.size()) {
  for (const exec::Port& port : signature_.outputs) outputs_.push_back(port.name);
}

std::string OpenModel::op_of(std::string_view output) const {
  const ir::Model& model = loaded_.model;
  for (const ir::Use& use : model.outputs(model.main_graph())) {
    if (model.text(model[use.value].name) != output) continue;
    const ir::NodeId node = ir::producer(model, use.value);
    return node ? std::string(model.text(model[node].op)) : "";
  }
  return "";
}

exec::Runner& OpenModel::runner(size_t number) {
  Column& column = columns_[number];
  if (column.failure) throw Error(*column.failure);
  if (column.runner) return *column.runner;
  try {
    open(number, column);
  } catch (const Error& error) {
    column.runner.reset();
    column.failure = error;
    throw;
  }
  return *column.runner;
}

const ir::Model& OpenModel::variant_of(size_t number, Column& column) {
  const std::string& variant = plan_.columns[number].variant;
  if (variant == sweep::kOriginal) return loaded_.model;
  column.variant =
      std::make_unique<ir::Model>(make_variant(variant, loaded_.model, request_, *samples_, plan_.shards.back().end));
  return *column.variant;
}

void OpenModel::open(size_t number, Column& column) {
  const std::string& side = plan_.columns[number].side;
  const ir::Model& model = variant_of(number, column);
  exec::SessionOptions session = request_.session;
  ModelSource source;
  source.path = path_;
  if (!column.variant) session.path = runnable_path(source);
  const bool is_elsewhere = side.find('@') != std::string::npos;  // two releases do not fit into one process
  exec::BackendPtr backend =
      is_elsewhere ? remote::isolated_backend({.backend = side}) : exec::find_backend(side, session.search);
  column.runner = exec::backend_runner(side, std::move(backend), model, std::move(session));
  Diagnostics findings;
  column.runner->open(findings);
}

}  // namespace assay::tasks
