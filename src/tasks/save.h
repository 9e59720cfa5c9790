#pragma once

#include <string>

#include "ir/model.h"
#include "onnx/export.h"
#include "tasks/observer.h"

namespace assay::tasks {

// Writes the model, logs its path, and sets the types of outputs that edits left without one.
void save_model(ir::Model& model, const std::string& path, const onnx::SaveOptions& options, Observer& observer);

}  // namespace assay::tasks
