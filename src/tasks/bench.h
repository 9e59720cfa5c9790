#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "results/bench.h"
#include "tasks/convert.h"
#include "tasks/inputs.h"
#include "tasks/load.h"
#include "tasks/observer.h"

namespace assay::tasks {

// The elements of an input, little-endian and without a header, in a file.
struct RawInput {
  std::string name;
  std::string path;
};

// Inputs, and the outputs that a model should give for them.
struct ReferencePair {
  std::vector<RawInput> inputs;
  std::vector<RawInput> outputs;
};

// Outputs are held against files of their elements before anything is measured.
struct ReferenceCheck {
  std::vector<ReferencePair> pairs;
  std::string loss = "l0";  // one of loss_names()
  double atol = 1e-5;       // of l0, as rtol
  double rtol = 1e-5;
  double threshold = 0;  // a loss from here on fails
};
std::vector<std::string_view> loss_names();

// Measures how long a model takes on a backend, and how much longer on its rivals.
struct BenchRequest {
  ModelSource model;
  std::string plan;          // that the backend saved, instead of a model
  std::string save_plan;     // a file: the plan is built with measured tactics, saved, and loaded again
  bool only_builds = false;  // nothing is measured
  std::string backend = "engine";
  std::vector<std::string> rivals;
  exec::SessionOptions session;
  InputRequest inputs;
  std::optional<EngineIntegers> integers;  // engines get a quantized copy of the model
  std::optional<int64_t> batch;            // the first dim of generated inputs where the model leaves it open
  std::vector<RawInput> raw_inputs;        // instead of what `inputs` gives
  unsigned streams = 1;                    // executions at once, with a host thread each; of all devices
  std::vector<std::string> devices;        // that streams are divided over; empty: that of the backend
  double warm_up_seconds = 0.2;
  double duration_seconds = 3;  // of the whole measurement of a backend; with `iterations`, both are least numbers
  uint64_t iterations = 10;     // of each stream
  double idle_seconds = 0;      // between two runs
  double sleep_seconds = 0;     // before the first run that is timed
  std::vector<double> percentiles = {90, 95, 99};
  bool profiles = false;       // the backend's layers, in runs of their own
  bool keeps_outputs = false;  // of one more run
  std::optional<ReferenceCheck> references;
  bool times_loading = false;    // of a plan, instead of its runs
  bool times_refitting = false;  // with the weights of the model that the settings name, or of its own
  bool keeps_inner = false;      // values between layers, as they are, with the outputs
  bool keeps_on_device = false;  // inputs and outputs lie there, and are not transferred
};

struct BenchOutcome {
  results::Bench bench;
  tensor::NamedData inputs;  // of the first set
  tensor::NamedData outputs;
  std::vector<std::string> inner;  // names of those outputs that are values between layers
};

// Error (usage) for contradictory settings, before anything is read; bench() calls this first.
void check_bench(const BenchRequest& request);

// Error if the model or its inputs are wrong. The failure of a backend is in the result.
BenchOutcome bench(BenchRequest request, Observer& observer);

}  // namespace assay::tasks
