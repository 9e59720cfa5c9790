#include "tasks/save.h"

#include "base/text.h"
#include "surgery/boundary_types.h"

namespace assay::tasks {

void save_model(ir::Model& model, const std::string& path, const onnx::SaveOptions& options, Observer& observer) {
  check_cancelled(observer);
  observer.info("Saving ONNX model to: " + printable(path));
  surgery::complete_outputs(model);
  const onnx::SaveReport saved = onnx::save(model, path, options);
  if (!saved.external_name.empty()) {
    observer.info("Weights are in the file next to it: " + printable(saved.external_name));
  }
}

}  // namespace assay::tasks
