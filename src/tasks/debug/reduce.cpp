#include "base/error.h"
#include "ir/constants.h"
#include "ir/edit.h"
#include "ir/queries.h"
#include "ir/walk.h"
#include "surgery/override_shapes.h"
#include "tasks/debug/reducer.h"
#include "tasks/edit/observed_types.h"
#include "tasks/threads.h"

namespace assay::tasks {
namespace {

// Constant nodes of the main graph become initializers, so that what is left counts.
void lower_constants(ir::Model& model) {
  ir::Edit edit(model);
  std::vector<ir::NodeId> constants;
  for (const ir::NodeId node : ir::nodes(model, model.main_graph())) {
    if (ir::is_constant_node(model, node)) constants.push_back(node);
  }
  for (const ir::NodeId node : constants) {
    const ir::Attribute* const value = model.find_attribute(model[node], "value");
    const ir::ValueId old = model[node].results.empty() ? ir::ValueId() : model[node].results[0];
    if (value == nullptr || !old || value->is_reference()) continue;
    const tensor::Tensor content = model[value->tensors().front()].tensor;
    const ir::Symbol name = model[old].name;
    edit.rename(old, edit.intern(std::string(model.text(name)) + "_lowered"));
    edit.replace_uses(old, ir::add_initializer(edit, {model.main_graph(), name, content}));
    edit.erase(node);
  }
}

void observe_main_types(const InputData& inputs, LoadedModel& loaded) {
  std::vector<ir::ValueId> values;
  for (const ir::ValueId id : ir::live_values(loaded.model)) {
    const ir::Value& value = loaded.model[id];
    const bool has_type = value.kind == ir::ValueKind::input || value.kind == ir::ValueKind::result;
    if (has_type && value.graph == loaded.model.main_graph()) values.push_back(id);
  }
  observe_types(loaded, values, inputs);
}

void warn_of_open_shapes(const ir::Model& model, Observer& observer) {
  for (const exec::Port& input : exec::signature_of(model).inputs) {
    const bool is_open = input.type && std::ranges::any_of(input.type->dims, [](const auto& dim) { return !dim.size; });
    if (!is_open) continue;
    observer.warning("the model has inputs of open shapes: parts of it are more likely to run with fixed ones");
    return;
  }
}

}  // namespace

results::ReduceReport debug_reduce(const ReduceRequest& request, Observer& observer) {
  const Stopwatch total;
  const TaskThreads threads(request.comparison.session.threads);
  LoadedModel loaded = load_model(request.model, observer);
  require_runnable(loaded);
  const ir::Model as_it_is = loaded.model.copy();
  if (request.infers) infer_shapes(loaded);
  if (!request.shapes.empty()) surgery::override_shapes(loaded.model, request.shapes, loaded.findings);
  lower_constants(loaded.model);
  const InputData data = make_inputs(loaded.model, request.inputs, observer, loaded.findings);
  if (request.observes_types) observe_main_types(data, loaded);
  const std::optional<tensor::NamedData> inputs = data.source->get(0);
  if (!inputs) fail(ErrorCode::usage, "there are no inputs");
  warn_of_open_shapes(loaded.model, observer);
  tell_findings(loaded.findings, observer);
  const double load_seconds = loaded.load_seconds;
  results::ReduceReport report = Reducer(request, loaded, as_it_is, *inputs, observer).run();
  report.timings = {{"load_seconds", load_seconds}, {"total_seconds", total.seconds()}};
  return report;
}

}  // namespace assay::tasks
