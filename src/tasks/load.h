#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "base/diagnostics.h"
#include "ir/model.h"
#include "ops/inference.h"
#include "tasks/observer.h"

namespace assay::tasks {

// The model that a task is about: a file, or one in memory, which no task changes.
struct ModelSource {
  std::string path;                       // `-`: standard input; for a model in memory: its name in messages
  const ir::Model* model = nullptr;       // in memory: nothing is read
  std::string type;                       // `onnx`, `engine`, ..., overriding the path; empty: decided by the path
  std::filesystem::path external_folder;  // of weights in files; empty: the model's own folder
  bool ignore_external_data = false;      // weights in other files are not read
  bool is_given() const { return model != nullptr || !path.empty(); }
};

struct LoadedModel {
  ir::Model model;
  Diagnostics findings;
  double load_seconds = 0;
};

// Loads the model, or copies the one in memory. Error (unsupported) for kinds of models that need a backend missing
// from this build.
LoadedModel load_model(const ModelSource& source, Observer& observer);
// Error (parse) if the graph is invalid: it can be listed, but not run.
void require_runnable(const LoadedModel& loaded);
// Tells the observer the findings, each message once.
void tell_findings(const Diagnostics& findings, Observer& observer);

// Infers the types of all values, which must not outlive the model. What contradicts the model becomes findings.
std::unique_ptr<ops::Inference> infer_types(LoadedModel& loaded);
void write_types(const ops::Inference& inference, LoadedModel& loaded);
// Both.
void infer_shapes(LoadedModel& loaded);

// The reason for refusing models and options that need the built-in engine or TensorFlow.
inline constexpr std::string_view kNoEngine =
    "the built-in engine runs ONNX models only: engine files and engine options are not supported";
inline constexpr std::string_view kNoTensorFlow = "TensorFlow models are not supported";

}  // namespace assay::tasks
