#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/diagnostics.h"
#include "results/run_report.h"

namespace assay::results {

// The best that the machine reaches, measured with the threads that are used, or a device besides its processor.
struct MachineRoof {
  unsigned threads = 0;
  std::string type = "float32";  // in which products are computed
  double flops_per_second = 0;   // multiply and add counted apart
  double bytes_per_second = 0;   // of memory, read and written
};

// One layer of a backend. Times are in seconds.
struct ProfiledLayer {
  std::string layer;
  std::string op;
  std::vector<std::string> origins;  // nodes of the model
  double seconds = 0;                // median of the runs
  double share = 0;                  // of all layers
  std::optional<double> flops;       // nullopt: not known
  uint64_t bytes = 0;                // 0: not known
  std::string provider;              // part of the library that computes it; empty: not told
  std::string bound;                 // `arithmetic`, `memory`, `caches`, `overhead`; empty: not known
};

struct ProfiledBackend {
  std::string backend;
  std::string title;
  std::string failure;  // reason why nothing was measured
  uint64_t runs = 0;
  double run_seconds = 0;                                  // median of whole runs, with the cost of measuring layers
  std::optional<MachineRoof> roof;                         // of the device that computes; nullopt: the machine's
  bool is_added = false;                                   // seconds of layers on a device are what each adds to a run
  std::vector<ProfiledLayer> layers;                       // in the order of execution
  std::vector<std::pair<std::string, uint64_t>> counters;  // of the processor, for each run
};

// Layers of several backends that compute the same nodes of the model.
struct LayerGroup {
  std::vector<std::string> origins;
  std::vector<double> seconds;  // by backend; NaN: it has no layer for them
};

struct ProfileReport {
  std::string model;
  std::vector<RunValue> inputs;
  MachineRoof roof;
  std::vector<ProfiledBackend> backends;
  std::vector<LayerGroup> groups;  // of two backends or more
  std::string no_counters;         // reason why there are none; empty: there are
  std::vector<Diagnostic> findings;
  std::vector<std::pair<std::string, double>> timings;  // seconds
};

}  // namespace assay::results
