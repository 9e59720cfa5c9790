#include "tasks/run/subject.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "convert/precision/convert_floats.h"
#include "exec/backend.h"
#include "ir/edit.h"
#include "tasks/save.h"

namespace assay::tasks {
namespace {

// A plan takes the place of a model, for backends that have plans.
std::map<size_t, std::string> plans_of(const RunRequest& request) {
  if (!is_engine_file(request.model)) return request.plans;
  std::map<size_t, std::string> plans = request.plans;
  const std::string& path = request.model.path;
  for (size_t i = 0; i < request.backends.size(); ++i) {
    if (!exec::make_backend(request.backends[i])->traits().has_plans) {
      throw Error(ErrorCode::unsupported,
                  fmt::format("`{}` is an engine: {} cannot run it", printable(path), request.backends[i]))
          .remedied_by("trt_engine");
    }
    plans.try_emplace(i, path);
  }
  if (request.converts_to_float16 || !request.save_onnx.empty() || !request.interface_types.empty()) {
    fail(ErrorCode::usage, "`{}` is an engine: its model cannot be changed or saved", printable(path));
  }
  return plans;
}

// The model with the chosen outputs, as a file; what is run is the model as it was loaded.
void save_model_of(const RunRequest& request, const ir::Model& model, Observer& observer) {
  LoadedModel edited{model.copy(), Diagnostics(), 0};
  if (request.infer_shapes) infer_shapes(edited);
  if (!request.outputs.is_empty()) {
    Diagnostics repeated;
    ir::OutputSelection outputs = request.outputs;
    outputs.debugged.clear();
    ir::Edit(edited.model).set_outputs(edited.model.main_graph(), ir::select_outputs(edited.model, outputs, repeated));
  }
  save_model(edited.model, request.save_onnx, request.save_onnx_options, observer);
}

}  // namespace

RunSubject open_subject(const RunRequest& request, Observer& observer) {
  RunSubject subject;
  subject.session = request.session;
  subject.inputs = request.inputs;
  if (request.backends.empty()) return subject;
  subject.plans = plans_of(request);
  subject.is_plan = subject.plans.size() == request.backends.size() && is_engine_file(request.model);
  subject.loaded = subject.is_plan ? load_plan_source(request.model, observer) : load_model(request.model, observer);
  LoadedModel& loaded = *subject.loaded;
  if (subject.is_plan) add_plan_shapes(request.model.path, request.session.settings, subject.inputs.generated.shapes);
  require_runnable(loaded);
  if (request.converts_to_float16) {
    observer.info("Converting float tensors to float16");
    convert::convert_to_float16(loaded.model, loaded.findings);
  }
  surgery::set_interface_types(loaded.model, request.interface_types);
  subject.taps = choose_taps(loaded.model, request.outputs, loaded.findings);
  const bool is_edited = request.converts_to_float16 || !request.interface_types.empty();
  subject.session.path = is_edited ? "" : runnable_path(request.model);
  if (!request.save_onnx.empty()) save_model_of(request, loaded.model, observer);
  // The model stays as it is, so that the backends may still read the file.
  if (request.infer_shapes) infer_types(loaded);
  subject.session.values = subject.taps.beyond_outputs;
  subject.session.on_layer = layer_counter(observer);
  return subject;
}

}  // namespace assay::tasks
