#pragma once

#include <string>

#include "ir/model.h"
#include "onnx/export.h"
#include "tasks/observer.h"

namespace assay::tasks {

// Writes the model, says where it is, and gives its outputs types where the edits left them without.
void save_model(ir::Model& model, const std::string& path, const onnx::SaveOptions& options, Observer& observer);

}  // namespace assay::tasks
