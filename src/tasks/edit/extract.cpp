#include "surgery/extract.h"

#include "base/error.h"
#include "tasks/edit/edit_job.h"
#include "tasks/edit/observed_types.h"

namespace assay::tasks {
namespace {

std::vector<ir::ValueId> untyped(EditJob& job, const ExtractRequest& request) {
  std::vector<ir::ValueId> wanted;
  for (const ir::ValueId value : surgery::boundary_values(job.model(), request.extraction)) {
    const ir::TypeId type = value ? job.model()[value].type : ir::TypeId();
    const bool is_known = type && (job.model()[type].kind != ir::TypeKind::tensor || job.model()[type].ranked);
    if (value && (request.types == TypeSource::observed || !is_known)) wanted.push_back(value);
  }
  return wanted;
}

void observe(EditJob& job, const ExtractRequest& request) {
  const std::vector<ir::ValueId> wanted = untyped(job, request);
  observe_types(job.loaded(), wanted, make_inputs(job.model(), request.inputs, job.observer(), job.findings()));
}

// Completes the types at the boundary: by inference, and where that does not tell, by a run. False: nothing was run.
bool complete_types(EditJob& job, const ExtractRequest& request) {
  if (request.types == TypeSource::observed) {
    observe(job, request);
    return true;
  }
  const auto is_open = [&] { return surgery::is_open(job.model(), request.extraction); };
  if (request.types == TypeSource::inferred || is_open()) {
    if (request.types != TypeSource::inferred) {
      job.observer().info("The model lacks some of the requested types and shapes; inferring them");
    }
    infer_shapes(job.loaded());
    job.observer().verbose("Shape inference completed successfully");
  }
  if (!is_open()) return false;
  try {  // open ones are reported later
    observe(job, request);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::cancelled) throw;
    job.findings().warn("fallback", "", "the model could not be run for its types: " + error.line(), error.remedy());
  }
  return true;
}

void report(EditJob& job) {
  const ir::Model& model = job.model();
  for (const ir::ValueId input : model[model.main_graph()].inputs) {
    job.changed("input", std::string(model.text(model[input].name)), "");
  }
  for (const ir::Use& output : model.outputs(model.main_graph())) {
    if (output.value) job.changed("output", std::string(model.text(model[output.value].name)), "");
  }
}

}  // namespace

EditOutcome extract(const ExtractRequest& request, Observer& observer) {
  EditJob job("surgeon extract", request.edit, observer);
  job.load();
  if (!complete_types(job, request)) tell_unused_inputs(request.inputs, observer);
  surgery::extract(job.model(), request.extraction, job.findings());
  report(job);
  return job.save();
}

}  // namespace assay::tasks
