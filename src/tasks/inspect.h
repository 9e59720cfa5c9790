#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "inspect/data/data_listing.h"
#include "onnx/export.h"
#include "results/accuracy_results.h"
#include "results/capability.h"
#include "results/engine_listing.h"
#include "results/model_diff.h"
#include "results/model_listing.h"
#include "results/tactics.h"
#include "results/tensorflow_listing.h"
#include "tasks/load.h"
#include "tasks/observer.h"

namespace assay::tasks {

// The parts of a model to show.
struct InspectRequest {
  ModelSource model;
  bool layers = false;
  bool attributes = false;
  bool weights = false;
  bool costs = false;
  bool memory = false;                   // that a run takes
  bool measures_memory = false;          // also that of the engine, for the sizes that `shapes` give
  std::vector<exec::InputShape> shapes;  // of inputs
  bool infers = false;                   // types and shapes are inferred first and listed
  bool finds_unbounded = false;          // values that only data decides and nothing bounds
  // Only nodes whose operator, or name, matches one of these wildcards; empty: all.
  std::vector<std::string> ops;
  std::vector<std::string> names;
};

struct UnboundedSize {
  std::string name;
  std::optional<std::string> shape;  // given if the rank is known
  std::string dtype;
};

// A model that was loaded to be shown; nothing more of it is read until it is listed.
class InspectedModel {
 public:
  // Tells the observer the findings.
  InspectedModel(const InspectRequest& request, Observer& observer);
  ~InspectedModel();
  InspectedModel(const InspectedModel&) = delete;
  InspectedModel& operator=(const InspectedModel&) = delete;

  const std::vector<UnboundedSize>& unbounded_sizes() const { return unbounded_; }
  double load_seconds() const { return loaded_.load_seconds; }
  // Nullopt unless the request wants it.
  const std::optional<results::MemoryNeeds>& memory() const { return memory_; }
  // In ONNX's text syntax.
  std::string text() const;
  void list(results::ModelListingSink& sink) const;

 private:
  void find_unbounded();
  results::ModelOverview overview() const;

  const InspectRequest request_;
  LoadedModel loaded_;
  std::unique_ptr<ops::Inference> inference_;  // null: nothing needs it
  std::vector<UnboundedSize> unbounded_;
  std::optional<results::MemoryNeeds> memory_;
};

// The overview of a model and its inputs and outputs.
void list_briefly(const ir::Model& model, results::ModelListingSink& sink);

// A model of TensorFlow, by an own reader.
results::TensorFlowListing inspect_tensorflow(const std::string& path, Observer& observer);

// A plan of the engine; nothing of it is run.
struct InspectEngineRequest {
  std::string path;
  std::string tensor_info;  // saved outputs, whose ranges are told with the tensors; empty: none
};
results::EngineListing inspect_engine(const InspectEngineRequest& request, Observer& observer);

// True for an engine that TensorRT or TensorRT-RTX wrote.
bool is_foreign_engine(const ModelSource& source);
// Facts of such an engine: those of its header, and with the user's TensorRT all that its inspector tells.
results::EngineListing inspect_foreign_engine(const ModelSource& source, const exec::SessionOptions* library,
                                              Observer& observer);
// The layers that the parser of the user's TensorRT makes of a model.
results::EngineListing inspect_foreign_network(const ModelSource& source, const exec::SessionOptions& library,
                                               Observer& observer);
// The layers that the engine makes of a model, before tactics are chosen.
results::EngineListing inspect_network(const ModelSource& model, Observer& observer);
// Writes them as a model with a node for each layer, for viewers of ONNX models; no runtime runs it.
void save_network(const ModelSource& model, const std::string& path, const onnx::SaveOptions& options,
                  Observer& observer);

// Finds the parts of a model that a backend can run.
struct CapabilityRequest {
  ModelSource model;
  std::string backend = "engine";
  exec::SessionOptions session;
  std::string folder;  // that gets each part as a model, and is made; empty: none is written
};
results::CapabilityReport inspect_capability(const CapabilityRequest& request, Observer& observer);

// Error (io, parse) for a file that is no replay of tactics.
results::RecordedTactics inspect_tactics(const std::string& path);

// Files, or folders with files somewhere below; what is not there has none.
struct TacticDiffRequest {
  std::string good;
  std::string bad;
};
results::TacticDiff diff_tactics(const TacticDiffRequest& request);

// In what two models differ.
struct DiffRequest {
  ModelSource a;
  ModelSource b;
  // Weights are equal where |a-b| <= atol + rtol*|b|.
  double rtol = 0;
  double atol = 0;
  bool ignore_names = false;
};
results::ModelDiff diff_models(const DiffRequest& request, Observer& observer);

// The parts of saved data to show. The slices are parsed from their texts.
struct InspectDataRequest {
  std::string path;
  inspect::DataOptions options;
};
// Results of comparisons hold metrics and no arrays.
std::variant<results::DataListing, results::AccuracyResults> inspect_data(const InspectDataRequest& request);

}  // namespace assay::tasks
