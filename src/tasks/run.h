#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "compare/options.h"
#include "compare/post_process.h"
#include "compare/runs/unused_settings.h"
#include "formats/saved_data.h"
#include "ir/selection.h"
#include "onnx/export.h"
#include "results/run_report.h"
#include "surgery/interface_types.h"
#include "tasks/convert.h"
#include "tasks/inputs.h"
#include "tasks/load.h"
#include "tasks/observer.h"

namespace assay::tasks {

// The user's Python functions about outputs.
struct ScriptRequest {
  std::optional<remote::ScriptFunction> postprocess;
  std::optional<remote::ScriptFunction> compare;
  bool is_empty() const { return !postprocess && !compare; }
};

// Tokens that are generated in the place of iterations, each step fed by the one before.
struct GenerationRequest {
  uint64_t steps = 0;
  std::optional<size_t> teacher;  // number of the side whose tokens all read; none: each reads its own
  std::vector<std::pair<std::string, std::string>> feeds;  // pairs of an output and the input that it becomes
  std::string prompt_model;                                // file that reads the prompt in its place; empty: none
};

// Runs a model on backends and compares the outputs of neighbouring runs; saved outputs count as further runs.
struct RunRequest {
  ModelSource model;                         // or a plan; not given: only saved outputs are compared
  std::vector<std::string> backends;         // one run each, in this order
  std::map<std::string, std::string> words;  // by backend: what runs are called by instead of its name
  std::map<size_t, std::string> plans;       // files, by number of the backend: what it runs instead of the model
  exec::SessionOptions session;
  bool isolate = false;        // each backend in a process of its own
  double timeout_seconds = 0;  // of an isolated run, and of an answer of scripts; 0: none
  uint64_t jobs = 1;           // isolated runs at a time
  InputRequest inputs;
  uint64_t warm_up = 0;
  bool is_sequential = false;
  ir::OutputSelection outputs;  // requested instead of the model's outputs
  bool infer_shapes = false;    // contradictions become findings, and a model that is saved has the types
  bool converts_to_float16 = false;
  std::optional<EngineIntegers> integers;               // the engine gets a quantized copy of the model
  std::vector<surgery::InterfaceType> interface_types;  // that inputs and outputs get

  compare::CompareOptions compare;
  compare::PostProcessing post_processing{std::nullopt};
  ScriptRequest scripts;
  std::optional<GenerationRequest> generation;
  bool computes_tolerance = false;  // from the model's arithmetic
  bool check_average = false;
  bool validate = false;
  bool leaves_out_unpaired = false;        // outputs that one side does not have are no difference
  bool may_judge_nothing = false;          // no iteration, or one saved run alone, is no error
  bool measures_all = false;               // percentiles and histograms of all outputs, also of those that passed
  std::vector<std::string> saved_outputs;  // files
  formats::SavedRuns given_outputs;        // in memory; compared last

  bool keeps_outputs = false;  // in the outcome
  bool makes_page = false;     // the report has what a page shows: heat maps, operators of values
  std::string save_inputs;
  std::string save_outputs;
  std::optional<std::string> save_blobs;  // a folder
  std::string save_onnx;                  // the model with the outputs that were chosen
  onnx::SaveOptions save_onnx_options;
  std::optional<std::string> heat_maps;  // a folder; empty: a new temporary one
  std::optional<std::string> error_plots;
};

struct RunOutcome {
  results::RunReport report;
  std::optional<Error> save_failure;               // of inputs, outputs or pictures: no fault of what was compared
  std::vector<compare::NamedOutput> unused_names;  // of thresholds for outputs that nobody has
  formats::SavedRuns outputs;                      // of the runs, where they are kept
  std::shared_ptr<const void> sessions;            // open sessions; need not be closed before the process ends
};

// Error (usage) for contradictory settings, before anything is read; run() calls this first.
void check_run(const RunRequest& request);

// Error if nothing can be started: no model, no inputs, nothing to compare. The failure of a backend is in the report.
RunOutcome run(RunRequest request, Observer& observer);

// Writes the metrics of a report, one comparison for each function.
void save_accuracy_results(const std::string& path, const results::RunReport& report,
                           const compare::CompareOptions& options);

}  // namespace assay::tasks
