#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "assay/observer.h"
#include "assay/tensor.h"

namespace assay {

enum class Verdict { equal, different, undecided };

// Tolerances for judging outputs: an element passes within either.
struct Tolerance {
  double absolute = 1e-5;
  double relative = 1e-5;
  bool is_computed = false;  // from the model's arithmetic, in the place of both numbers
};

struct RunOptions {
  std::vector<std::string> backends = {"ref"};  // `ref`, `ref-fp64`, `engine`, `onnxrt`, ...; one run each, in order
  std::vector<Values> inputs = {};              // sets of inputs; none: made up
  uint64_t iterations = 1;                      // of made-up inputs
  uint64_t seed = 1;
  std::vector<std::string> outputs = {};  // names of values, or wildcards; none: the model's outputs
  bool all_values = false;                // every value of the main graph
  Tolerance tolerance = {};
  bool isolate = false;           // each backend in a process of its own, which may crash
  double timeout_seconds = 0;     // of an isolated run; 0: none
  unsigned threads = 0;           // 0: as many as there are cores
  uint64_t max_memory_bytes = 0;  // 0: no limit
  std::string python = {};        // whose packages backends are looked for in; empty: the first python3 on PATH
  // Settings of backends, by the names that available_backends() gives: {{"graph-optimization-level",
  // {"ORT_DISABLE_ALL"}}}
  std::map<std::string, std::vector<std::string>> settings = {};
};

// One backend's run.
struct Run {
  std::string name;
  std::string failure;  // reason why nothing more came from the run; empty: no failure
  std::string remedy;   // the setting that lifts the failure, as Error::remedy(); empty: none does
  double load_seconds = 0;
  double run_seconds = 0;       // of all iterations together
  std::vector<Values> outputs;  // by iteration; values that are no tensors are left out
};

// One output of two runs beside each other.
struct OutputDifference {
  std::string name;
  bool passed = false;
  std::string fault;  // reason why there was nothing to measure
  double max_absolute = 0;
  double max_relative = 0;
  double mean_absolute = 0;
  double mean_relative = 0;
  double cosine = 1;
  double snr_db = 0;
  uint64_t count = 0;
  uint64_t failed_count = 0;  // elements beyond both tolerances
};

// Two neighbouring runs; the second one is the reference.
struct Comparison {
  std::string run_a;
  std::string run_b;
  Verdict verdict = Verdict::undecided;
  std::vector<std::vector<OutputDifference>> iterations;
  std::vector<std::string> missing;  // outputs that one side does not have
};

struct RunReport {
  Verdict verdict = Verdict::undecided;  // of all comparisons; one run alone: equal, unless it failed
  std::vector<Run> runs;
  std::vector<Comparison> comparisons;
  std::vector<Finding> findings;
};

// Compares outputs that are there already; `b` is the reference.
Comparison compare_outputs(const Values& a, const Values& b, const Tolerance& tolerance = {});

// A backend, and whether it can be used here.
struct BackendInfo {
  std::string name;
  bool usable = false;
  std::string version;                     // or why it cannot be used
  std::string path;                        // of its library; empty: built in, or not found
  std::vector<std::string> settings = {};  // names for RunOptions::settings
};
std::vector<BackendInfo> available_backends(const std::string& python = {});

}  // namespace assay
