#include "tasks/run/subject.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/stopwatch.h"
#include "base/text.h"
#include "convert/precision/convert_floats.h"
#include "exec/backend.h"
#include "ir/edit.h"
#include "tasks/check.h"
#include "tasks/run/stand_in.h"
#include "tasks/save.h"
#include "tasks/tensorflow_side.h"
#include "tensorflow/read.h"

namespace assay::tasks {
namespace {

constexpr std::string_view kTensorFlow = "tf";
constexpr std::string_view kTensorFlowReader = "openvino";

// A plan takes the place of a model, for backends that have plans.
std::map<size_t, std::string> plans_of(const RunRequest& request) {
  if (!is_engine_file(request.model)) return request.plans;
  std::map<size_t, std::string> plans = request.plans;
  const std::string& path = request.model.path;
  for (size_t i = 0; i < request.backends.size(); ++i) {
    if (!exec::make_backend(request.backends[i])->traits().builds_engines) {
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

// A model of TensorFlow is read by TensorFlow and OpenVINO themselves, in the place of a plan: second opinions on what
// was imported. Of values inside TensorFlow alone can be asked, and changes are made here alone.
std::map<size_t, std::string> tensorflow_plans(const RunRequest& request) {
  std::map<size_t, std::string> plans;
  const bool is_as_it_is = !request.converts_to_float16 && request.interface_types.empty();
  const bool has_choice = !request.model.signature.empty() || !request.model.graph_outputs.empty() ||
                          !request.outputs.is_empty() || tensorflow::is_keras_file(request.model.path);
  for (size_t i = 0; is_as_it_is && i < request.backends.size(); ++i) {
    const auto backend = exec::make_backend(request.backends[i]);
    const bool reads = backend->name() == kTensorFlow || (backend->name() == kTensorFlowReader && !has_choice);
    if (reads) plans.emplace(i, request.model.path);
  }
  return plans;
}

// Names of inputs as they are in the file, where nothing is chosen.
std::vector<std::string> input_names(const std::string& path) {
  const results::TensorFlowListing listing = tensorflow::read_model(path);
  std::vector<std::string> names;
  if (listing.kind == "TFLite" && !listing.graphs.empty()) {
    for (const results::ValueInfo& input : listing.graphs.front().inputs) names.push_back(input.name);
  }
  return names;
}

// An engine that none but its builder can open, such as TensorRT's.
bool is_foreign_engine(const RunRequest& request) {
  return is_engine_file(request.model) && std::ranges::none_of(request.backends, has_plans);
}

// Nothing is imported where all sides read the model themselves, nor of another's engine.
void open_as_plan(const RunRequest& request, RunSubject& subject, Observer& observer) {
  const std::string& path = request.model.path;
  observer.info((is_engine_file(request.model) ? "Loading plan: " : "Loading model: ") + printable(path));
  const Stopwatch loading;
  Diagnostics findings;
  const auto session =
      exec::find_backend(request.backends.front(), request.session.search)->open_plan(path, subject.session, findings);
  subject.is_plan = true;
  subject.loaded = LoadedModel{stand_in_model(session->signature()), std::move(findings), loading.seconds()};
}

void open_model(const RunRequest& request, RunSubject& subject, Observer& observer) {
  const bool is_tensorflow = is_tensorflow_model(request.model);
  subject.plans = is_tensorflow ? tensorflow_plans(request) : plans_of(request);
  if (is_tensorflow) set_choice(request.model, subject.session.settings);
  const auto is_reader = [&](const auto& plan) { return request.backends[plan.first].starts_with(kTensorFlowReader); };
  if (is_tensorflow && std::ranges::any_of(subject.plans, is_reader)) {
    subject.session.settings.set("graph-inputs", input_names(request.model.path));
  }
  const bool reads_itself =
      is_tensorflow ? request.save_onnx.empty() && request.outputs.is_empty() : is_foreign_engine(request);
  if (reads_itself && subject.plans.size() == request.backends.size()) return open_as_plan(request, subject, observer);
  subject.is_plan = subject.plans.size() == request.backends.size() && is_engine_file(request.model);
  ModelSource source = request.model;
  source.keeps_values = !subject.plans.empty() && !request.outputs.is_empty();
  subject.loaded = subject.is_plan ? load_plan_source(source, observer) : load_model(source, observer);
  if (subject.is_plan) add_plan_shapes(request.model.path, request.session.settings, subject.inputs.generated.shapes);
}

}  // namespace

RunSubject open_subject(const RunRequest& request, Observer& observer) {
  RunSubject subject;
  subject.session = request.session;
  subject.inputs = request.inputs;
  if (request.backends.empty()) return subject;
  open_model(request, subject, observer);
  LoadedModel& loaded = *subject.loaded;
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
