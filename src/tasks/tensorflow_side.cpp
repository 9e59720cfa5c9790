#include "tasks/tensorflow_side.h"

#include "exec/backend.h"

namespace assay::tasks {

bool reads_file_itself(const ModelSource& model, std::string_view backend) {
  constexpr std::string_view kTensorFlow = "tf";
  return is_tensorflow_model(model) && exec::make_backend(backend)->name() == kTensorFlow;
}

void set_choice(const ModelSource& model, exec::Settings& settings) {
  if (!model.signature.empty()) settings.set("signature", {model.signature});
  if (!model.graph_outputs.empty()) settings.set("tf-outputs", model.graph_outputs);
}

}  // namespace assay::tasks
