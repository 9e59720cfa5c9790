#include "convert/precision/convert_floats.h"
#include "ir/edit.h"
#include "ir/walk.h"
#include "surgery/override_shapes.h"
#include "tasks/edit/observed_types.h"
#include "tasks/edit/pass_job.h"
#include "tasks/edit/size_bounds.h"

namespace assay::tasks {
namespace {

void observe_all_types(const InputRequest& inputs, EditJob& job) {
  std::vector<ir::ValueId> values;
  for (const ir::ValueId id : ir::live_values(job.model())) {
    const ir::Value& value = job.model()[id];
    const bool has_type = value.kind == ir::ValueKind::input || value.kind == ir::ValueKind::result;
    if (has_type && value.graph == job.model().main_graph()) values.push_back(id);
  }
  observe_types(job.loaded(), values, make_inputs(job.model(), inputs, job.observer(), job.findings()));
}

// True if no pass that is asked for looks at types, so that inference after them, when nodes are in order, is enough.
bool only_orders(const PassRequest& request) {
  return !request.folds && !request.simplifies && !request.fuses && request.passes.empty() &&
         !request.options.get<passes::OpsetOptions>().version;
}

// Edits before the passes run.
void edit(const SanitizeRequest& request, EditJob& job) {
  ir::Model& model = job.model();
  if (!request.outputs.is_empty()) {
    ir::Edit(model).set_outputs(model.main_graph(), ir::select_outputs(model, request.outputs, job.findings()));
  }
  if (request.converts_to_float16) {
    job.observer().info("Converting float tensors to float16");
    convert::convert_to_float16(model, job.findings());
  }
  surgery::override_shapes(model, request.overrides, job.findings());
}

}  // namespace

EditOutcome sanitize(const SanitizeRequest& request, Observer& observer) {
  EditJob job("surgeon sanitize", request.edit, observer);
  job.load();
  const bool infers = request.types == TypeSource::inferred;
  const bool has_edits = !request.overrides.empty() || request.converts_to_float16;
  if (infers && (has_edits || !only_orders(request.passes))) infer_shapes(job.loaded());
  edit(request, job);
  if (request.types == TypeSource::observed) observe_all_types(request.inputs, job);
  if (request.types != TypeSource::observed) tell_unused_inputs(request.inputs, observer);
  std::vector<results::StepListing> steps = run_passes(request.passes, job);
  bound_sizes(request.bounds, job);
  if (infers) infer_shapes(job.loaded());
  EditOutcome outcome = job.save();
  outcome.report.steps = std::move(steps);
  return outcome;
}

}  // namespace assay::tasks
