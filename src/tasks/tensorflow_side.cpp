#include "tasks/tensorflow_side.h"

namespace assay::tasks {

bool reads_file_itself(const ModelSource& model, std::string_view backend) {
  constexpr std::string_view kTensorFlow = "tf";
  return is_tensorflow_model(model) && exec::make_backend(backend)->name() == kTensorFlow;
}

void set_choice(const ModelSource& model, exec::Settings& settings) {
  if (!model.signature.empty()) settings.set("signature", {model.signature});
  if (!model.graph_outputs.empty()) settings.set("tf-outputs", model.graph_outputs);
}

std::unique_ptr<exec::Session> open_file(const exec::Backend& backend, const ModelSource& model,
                                         exec::SessionOptions options, Diagnostics& findings) {
  set_choice(model, options.settings);
  return backend.open_plan(model.path, options, findings);
}

}  // namespace assay::tasks
