#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compare/options.h"
#include "debug/check_rules.h"
#include "onnx/export.h"
#include "results/debug.h"
#include "surgery/extract.h"
#include "tasks/inputs.h"
#include "tasks/interface.h"
#include "tasks/load.h"
#include "tasks/observer.h"

namespace assay::tasks {

// The judgement of each round of a debugging loop, and the files that are kept of it.
struct CheckRequest {
  std::vector<std::string> command;                     // none: `ask` decides
  std::function<bool(const std::string& subject)> ask;  // returns true if the subject passed
  debug::CheckRules rules{{}, {}, {}};
  double timeout_seconds = 0;          // 0: none
  uint64_t repeats = 1;                // of each check; it fails if any does
  uint64_t jobs = 1;                   // checks at a time
  std::vector<std::string> artifacts;  // files and folders that are sorted by verdict
  std::string artifacts_folder;
  std::string iteration_info;  // a file that is there during a check
  std::string load_replay;
  std::string save_replay;
  bool resumes = false;  // overwrites the files that an earlier call has left of what is checked
};

enum class UntilKind : uint8_t { good, bad, count };
struct Until {
  UntilKind kind = UntilKind::count;
  uint64_t count = 1;
};

// Judges the same again and again.
struct RepeatRequest {
  CheckRequest check;
  Until until;
};
results::DebugReport debug_repeat(const RepeatRequest& request, Observer& observer);

// Builds plans of the engine, each time anew, and judges them.
struct BuildRequest {
  ModelSource model;
  exec::SessionOptions session;
  bool infers = false;
  InterfaceRequest interface;
  CheckRequest check;
  Until until;
  std::string artifact;  // place of each plan
  bool keeps_artifact = false;
};
results::DebugReport debug_build(const BuildRequest& request, Observer& observer);

// Judges a model by comparing a backend with something else, without a command.
struct ComparisonRequest {
  std::string backend;                     // empty: nothing is compared
  std::string against = "ref";             // another backend
  std::vector<std::string> saved_outputs;  // or files; what they hold of the values of the model is also what it is fed
  exec::SessionOptions session;
  compare::CompareOptions compare;
  bool computes_tolerance = false;
  bool isolate = false;
  double timeout_seconds = 0;
};

// Finds a smallest part of a model that still fails.
struct ReduceRequest {
  ModelSource model;
  InputRequest inputs;  // of the run that values are taken from where the model is cut
  bool infers = true;
  bool observes_types = false;            // from that run, and not by inference
  std::vector<surgery::Boundary> shapes;  // of inputs, instead of the model's
  ComparisonRequest comparison;
  CheckRequest check;    // used if nothing is compared
  std::string artifact;  // the file that is checked
  bool keeps_artifact = false;
  std::string output;      // empty: only the good model is saved
  std::string least_good;  // a model close to it that passes; empty: none
  onnx::SaveOptions save;
  bool saves_what_passes = false;  // a model that does not fail is written as it is
  bool reduces_inputs = true;
  bool reduces_outputs = true;
  bool is_linear = false;
  bool shrinks = false;     // attributes, sizes, weights and the operator set, as far as the model still fails
  bool anonymizes = false;  // names and weights say nothing any more, as far as the model still fails
  std::string reproducer;   // a folder with everything that shows the fault; empty: none
  // Text for the folder: how to see the failure.
  std::function<std::string(const results::ReduceReport&)> reproducer_text;
};
results::ReduceReport debug_reduce(const ReduceRequest& request, Observer& observer);

}  // namespace assay::tasks
