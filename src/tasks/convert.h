#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "ir/selection.h"
#include "passes/precision/half_options.h"
#include "passes/quantize/qdq_options.h"
#include "passes/quantize/weight_options.h"
#include "quantize/calibrate.h"
#include "results/conversion.h"
#include "tasks/edit.h"

namespace assay::tasks {

// Float32 values and weights become 16 bits wide.
struct HalfRequest {
  passes::HalfOptions options;
  bool measures_ranges = false;  // by a run; what does not fit stays float32
  double margin = 0.5;           // the share of the largest number that values may reach
  bool reports_errors = false;   // of each layer; what is converted stays the same
  std::string backend = "ref";   // that measures
};

// What a layer may cost at most, by itself.
struct ErrorBound {
  bool is_snr = true;
  double least = 0;  // in dB, or as a cosine
};

// Layers work on integers.
struct Int8Request {
  passes::QdqOptions options;
  std::optional<ErrorBound> bound;
  std::vector<quantize::Calibration> calibrations;  // several: what costs the layers and the outputs least
  double quantile = 0.9999;
  std::string calibration;      // what messages call it
  std::string cache_algorithm;  // what a cache that is written calls it
  std::string cache;            // a file of scales: read if it is there, else written; empty: none
  bool reports_errors = false;
  std::string backend;  // that measures; empty: ONNX Runtime where it is there, else the reference
};

// Weights alone become small integers.
struct WeightsRequest {
  passes::WeightOptions options;
  bool reports_errors = false;
  std::string backend;  // that measures, as of Int8Request
};

struct ConvertRequest {
  EditRequest edit;
  exec::SessionOptions session;  // of runs that measure
  InputRequest inputs;           // of them
  bool infers = false;
  ir::OutputSelection outputs;  // in the place of the model's
  std::variant<std::monostate, HalfRequest, Int8Request, WeightsRequest> conversion;
  uint64_t last_step = std::numeric_limits<uint64_t>::max();
  bool explains = false;
};

struct ConvertOutcome {
  results::ConversionReport report;
  ir::Model model;
};
ConvertOutcome convert(const ConvertRequest& request, Observer& observer);

// A calibration by the words that users have for it.
struct Calibrator {
  std::string_view word;
  std::string_view peer;   // class of TensorRT
  std::string_view cache;  // as caches call it that it reads
  quantize::Calibration calibration;
};
// The first one stands for a choice among the others.
std::span<const Calibrator> calibrators();
// Ranges are found as one of calibrators() does it.
void set_calibrator(const Calibrator& calibrator, Int8Request& request);

}  // namespace assay::tasks
