#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/diagnostics.h"
#include "results/rewrite_steps.h"

namespace assay::results {

// The cost of converting one node, over all inputs: the worst of its results, beside the model as it was.
struct LayerError {
  double max_abs = 0;
  double max_rel = 0;
  double cosine = 1;
  double snr_db = std::numeric_limits<double>::infinity();
};

// A node that computes with floats, and what became of it.
struct ConvertedLayer {
  std::string name;
  std::string op;
  std::string precision;            // `float16`, `float32`, ...
  std::string reason;               // for leaving it as it was; empty: converted
  std::optional<double> magnitude;  // greatest of its operands and results, where that was measured
  std::optional<LayerError> error;  // set if it was measured
};

// A weight with numbers that the new type cannot hold.
struct WeightLoss {
  std::string name;
  double largest = 0;      // magnitude of its finite numbers
  uint64_t overflows = 0;  // numbers beyond the range
  uint64_t flushed = 0;    // numbers that become zero
};

// A layer that alone was converted.
struct LayerSensitivity {
  std::string name;
  double output_snr_db = 0;  // of the worst output
  uint64_t bytes_before = 0;
  uint64_t bytes_after = 0;
  uint64_t macs = 0;  // multiply-accumulates that integers take over; 0 where weights alone become small
};

// All layers converted but some, those that cost most noise for what they save.
struct ConversionPoint {
  uint64_t left_out = 0;
  uint64_t bytes = 0;              // of the weights of all of them
  uint64_t macs = 0;               // of those that are converted
  double expected_snr_db = 0;      // if the noises of layers add up
  std::optional<double> measured;  // metric of the budget, where it was tried
  std::optional<double> seconds;   // of a run, where it was tried, and of the model as it was
};

// The result of `convert` for a model.
struct ConversionReport {
  std::string model;
  std::string output;
  std::string conversion;  // `float16`, ..., `mended`; empty: none was asked for
  bool changed = false;
  std::vector<ConvertedLayer> layers;
  std::vector<WeightLoss> weights;
  uint64_t casts_added = 0;
  uint64_t casts_removed = 0;
  uint64_t clips_added = 0;  // before Casts
  uint64_t weights_converted = 0;
  uint64_t weight_bytes_before = 0;           // of those
  uint64_t weight_bytes_after = 0;            // with their scales
  uint64_t activations = 0;                   // values that are rounded to integers between layers
  std::optional<double> output_snr_db;        // of the worst output, where int8 was measured
  std::string calibration;                    // the calibration that found their ranges; empty: there are none
  std::vector<LayerSensitivity> sensitivity;  // if that was asked for, or there is a budget
  std::vector<ConversionPoint> points;        // likewise
  std::vector<StepListing> steps;             // if they were wanted
  std::vector<Diagnostic> findings;
  std::vector<std::pair<std::string, double>> timings;  // seconds
};

}  // namespace assay::results
