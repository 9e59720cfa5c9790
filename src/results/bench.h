#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/diagnostics.h"
#include "results/run_report.h"

namespace assay::results {

// One run that was timed.
struct BenchSample {
  double start_seconds = 0;     // since measuring began
  double latency_seconds = 0;   // seen by the caller: inputs, computing, outputs
  double compute_seconds = 0;   // computing alone
  bool is_on_device = false;    // besides the processor, by whose clock the times but the latency are
  double upload_seconds = 0;    // of inputs to a device
  double download_seconds = 0;  // of outputs from there
  uint32_t stream = 0;
};

struct Interval {
  double low = 0;
  double high = 0;
};

// Statistics of one quantity over all samples. Times are in seconds.
struct Distribution {
  uint64_t count = 0;
  double min = 0;
  double max = 0;
  double mean = 0;
  double median = 0;
  std::vector<std::pair<double, double>> percentiles;  // percentile and value
  double variation = 0;                                // standard deviation over mean
  std::optional<Interval> mean_interval;               // 95%, by the spread of blocks; none: too few samples
  std::optional<Interval> median_interval;
  uint64_t outliers = 0;  // beyond three times the range of the middle half; they are counted everywhere
  double drift = 0;       // medians of the later blocks over those of the earlier ones, less 1
  bool has_drift = false;
};

// One layer over all runs that were profiled.
struct LayerTimes {
  std::string layer;
  std::string op;
  double total_seconds = 0;
  double mean_seconds = 0;
  double median_seconds = 0;
  double share = 0;
};

struct LayerProfile {
  uint64_t runs = 0;
  std::vector<LayerTimes> layers;  // in the order of execution; empty: the backend cannot tell
};

// One backend that was measured.
struct BenchSide {
  std::string backend;
  std::string title;
  std::string description;
  std::string failure;  // reason why nothing, or nothing more, was measured
  double load_seconds = 0;
  uint64_t warm_up_runs = 0;
  double warm_up_seconds = 0;
  std::vector<BenchSample> samples;  // by start
  bool is_cut = false;               // more samples than are kept
  double wall_seconds = 0;           // from the first start to the last end
  double throughput = 0;             // runs in a second
  Distribution latency;
  Distribution compute;
  std::optional<Distribution> upload;  // of samples on a device
  std::optional<Distribution> download;
  LayerProfile profile;
  bool is_on_device() const { return !samples.empty() && samples.front().is_on_device; }
  uint64_t run_count() const { return samples.empty() ? compute.count : samples.size(); }
  bool is_measured() const { return failure.empty() && run_count() > 0; }
};

// The time of a rival in parts of that of the first side; above 1 it is slower.
struct BenchRatio {
  std::string backend;
  double of_minima = 0;
  double of_medians = 0;
  std::optional<Interval> minima_interval;
  std::optional<Interval> medians_interval;
};

// The distance of an output from what a file holds.
struct ReferenceLoss {
  uint64_t pair = 0;  // of files of inputs and of outputs
  std::string output;
  double loss = 0;
  bool passed = false;
  std::string fault;  // reason why there is no loss
};

// Times of getting a plan ready, each from its file on.
struct LoadTimes {
  std::string work;  // `deserialize`, `refit`
  uint64_t bytes = 0;
  double first_seconds = 0;  // after some that are not counted
  Distribution others;
};

struct Bench {
  std::string model;
  std::vector<RunValue> inputs;  // of the first set
  unsigned streams = 1;
  std::vector<std::string> devices;  // that streams take in turns; empty: one
  unsigned threads = 0;              // of each stream
  bool is_interleaved = false;
  std::vector<BenchSide> sides;  // the first is the subject, the others its rivals
  std::vector<BenchRatio> ratios;
  std::string loss_function;  // `l0`, `cos`
  double loss_threshold = 0;
  std::vector<ReferenceLoss> losses;  // of the first side
  std::vector<LoadTimes> loads;
  std::vector<Diagnostic> findings;
  std::vector<std::pair<std::string, double>> timings;  // seconds
};

}  // namespace assay::results
