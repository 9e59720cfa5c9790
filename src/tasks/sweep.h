#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "compare/options.h"
#include "results/sweep.h"
#include "sweep/share.h"
#include "tasks/inputs.h"
#include "tasks/observer.h"

namespace assay::tasks {

// The way from the bytes of a picture to the elements of an input.
struct ImageRules {
  bool has_channels_last = false;
  double scale = 1.0 / 255;
  std::vector<double> mean;       // of each channel, after scaling
  std::vector<double> deviation;  // likewise
};

// Many models on several sides, over a data set. Results are kept in a folder, in which a sweep that was ended goes on.
struct SweepRequest {
  std::filesystem::path folder;
  std::vector<std::string> models;    // files
  std::vector<std::string> sides;     // backends; the first one with the model as it is is the reference
  std::vector<std::string> variants;  // forms of each model besides itself: `fp16`, `int8`, `simplify`, ...
  std::vector<std::string> metrics;
  std::string output;  // that metrics judge; empty: the first
  std::string label;   // likewise
  std::string data;    // a loader `FILE.py[:FUNCTION]`, a folder of .npz or .png, or a file of inputs; empty: generated
  ImageRules images;
  uint64_t shard_size = 64;   // samples in a unit
  uint64_t most_samples = 0;  // 0: all
  double share = 100;         // percent of models and shards that are run
  exec::GenerateOptions generated;
  uint64_t iterations = 1;  // of generated samples
  bool casts = false;
  exec::SessionOptions session;
  compare::CompareOptions compare;
  bool computes_tolerance = false;
  double timeout_seconds = 0;  // of loading a model, of making a session, of a run; 0: none
  uint64_t jobs = 0;           // workers; 0: as many as there are cores
  uint64_t retries = 1;        // of what died, timed out or lacked memory
  sweep::Share part;
  std::string engine;                     // `local`, `ray`, `ray:ADDRESS`
  std::vector<std::string> words;         // of the command, from which workers are started
  std::vector<std::string> worker_words;  // likewise, ready for the number of a socket behind them
  std::string options;                    // settings that decide results
};

// Error (usage) for contradictory settings.
void check_sweep(const SweepRequest& request);
// Runs what has no result yet, and reports on all. Error (usage): another sweep is at work there; Error (limit): there
// is no room for results.
results::SweepReport sweep(const SweepRequest& request, Observer& observer);
// A worker of a sweep: runs the units that it is told over a socket. Returns the exit status.
int serve_sweep(const SweepRequest& request, int socket);

// The forms that `variants` may name.
std::vector<std::string> sweep_variants();
// True if the making of such a form looks at samples: they decide results.
bool is_calibrated(const std::string& variant);
// The files that patterns name, in order: `zoo/**/*.onnx`, folders, files. Error (io, usage) for one that names none.
std::vector<std::string> find_models(const std::vector<std::string>& patterns);

// A SHA-256 of the bytes of a file.
std::string digest_of_file(const std::string& path);

// `older`: the folder of another sweep, or its report; empty: none.
results::SweepReport report_sweep(const std::filesystem::path& folder, const std::string& older);
results::SweepStatus status_of_sweep(const std::filesystem::path& folder);
void save_sweep_store(const std::filesystem::path& path, const results::SweepReport& report);
std::string sweep_csv(const results::SweepReport& report);
// Puts the results of several folders into one, whose journal becomes one file.
results::SweepReport merge_sweeps(const std::vector<std::string>& folders, const std::filesystem::path& target);
// Forgets results of these classes, so that they are run again; the words of the command that made them.
struct Forgotten {
  uint64_t count = 0;
  std::string folder;
  std::vector<std::string> words;
};
Forgotten forget_results(const std::filesystem::path& folder, const std::vector<std::string>& classes);

}  // namespace assay::tasks
