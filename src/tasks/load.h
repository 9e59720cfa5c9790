#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "base/diagnostics.h"
#include "exec/generated_inputs.h"
#include "exec/settings.h"
#include "ir/model.h"
#include "ops/inference.h"
#include "tasks/observer.h"

namespace assay::tasks {

// The model that a task is about: a file, or one in memory, which no task changes.
struct ModelSource {
  std::string path;                        // `-`: standard input; for a model in memory: its name in messages
  const ir::Model* model = nullptr;        // in memory: nothing is read
  std::string type;                        // `onnx`, `engine`, ..., overriding the path; empty: decided by the path
  std::filesystem::path external_folder;   // of weights in files; empty: the model's own folder
  bool ignore_external_data = false;       // weights in other files are not read
  std::string signature;                   // of a SavedModel or a TFLite file; empty: the usual one
  std::vector<std::string> graph_outputs;  // of a graph of TensorFlow: the values that are to be its outputs
  int64_t opset = 0;                       // of ai.onnx, for a model of TensorFlow; 0: as it is made
  bool keeps_values = false;               // of TensorFlow: each of its values is there, as it is there
  std::string python;                      // that runs a network script; empty: that of VIRTUAL_ENV or PATH
  bool is_given() const { return model != nullptr || !path.empty(); }
};

// True if the source is a plan of the engine, by its content, or an engine by its name or type.
bool is_engine_file(const ModelSource& source);
// True for a frozen graph, a SavedModel, a TFLite or a Keras file.
bool is_tensorflow_model(const ModelSource& source);
// The file, where a backend may read it by itself; empty: what is loaded differs from it.
std::filesystem::path runnable_path(const ModelSource& source);

struct LoadedModel {
  ir::Model model;
  Diagnostics findings;
  double load_seconds = 0;
};

// Loads the model, or copies the one in memory. Error (unsupported) for kinds of models that need a backend missing
// from this build.
LoadedModel load_model(const ModelSource& source, Observer& observer);
// The source model of a plan, as far as the plan has it: its weights may not be there.
LoadedModel load_plan_source(const ModelSource& source, Observer& observer);
// Inputs that no pattern of `shapes` names get the shapes that the plan is tuned for, those of the profile that is
// chosen or of the first.
void add_plan_shapes(const std::string& plan, const exec::Settings& settings, std::vector<exec::InputShape>& shapes);
// Error (parse) if the graph is invalid: it can be listed, but not run.
void require_runnable(const LoadedModel& loaded);
// Tells the observer the findings, each message once.
void tell_findings(const Diagnostics& findings, Observer& observer);

// Infers the types of all values, which must not outlive the model. What contradicts the model becomes findings.
std::unique_ptr<ops::Inference> infer_types(LoadedModel& loaded);
void write_types(const ops::Inference& inference, LoadedModel& loaded);
// Both.
void infer_shapes(LoadedModel& loaded);

// The reason for refusing options and models of others.
inline constexpr std::string_view kNoEngineOption = "an option of TensorRT that the built-in engine does not have";
inline constexpr std::string_view kNoTensorFlow =
    "TensorFlow, and TensorRT inside of it, run models here as their defaults say";

}  // namespace assay::tasks
