#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "calibrate/calibrate.h"
#include "convert/conversion/int8.h"
#include "convert/conversion/mend.h"
#include "convert/precision/half_options.h"
#include "convert/quantize/weight_options.h"
#include "ir/selection.h"
#include "results/conversion.h"
#include "surgery/interface_types.h"
#include "tasks/edit.h"

namespace assay::tasks {

// Float32 values and weights become 16 bits wide.
struct HalfRequest {
  convert::HalfOptions options;
  bool measures_ranges = false;  // in a run; values that do not fit stay float32
  double margin = 0.5;           // the share of the type's largest number that values may reach
  bool reports_errors = false;   // of each layer; does not change what is converted
  std::string backend = "ref";   // that measures
};

using convert::ErrorBound;

// Layers compute on integers, or their products on float8.
struct Int8Request {
  convert::QdqOptions options;
  std::optional<ErrorBound> bound;
  convert::LayerTrials trials = {};
  std::vector<calibrate::Calibration> calibrations;  // several: the choice with the least loss in layers and outputs
  double quantile = 0.9999;
  std::string calibration;                   // name in messages
  std::string cache_algorithm;               // name in a cache that is written
  std::string cache;                         // a file of scales: read if it exists, otherwise written; empty: none
  std::vector<std::string> statistics = {};  // files of them, in the place of measuring; empty: none
  bool reports_errors = false;
  std::string backend;  // that measures; empty: ONNX Runtime if available, otherwise the reference
};

// Only weights become small integers.
struct WeightsRequest {
  convert::WeightOptions options;
  convert::LayerTrials trials = {};
  bool reports_errors = false;
  std::string backend;  // that measures, as of Int8Request
};

// Layers of a model that comes with 16-bit floats compute in float32, or what its Casts cannot hold is cut off.
using MendRequest = convert::MendingConversion;

struct ConvertRequest {
  EditRequest edit;
  exec::SessionOptions session;  // of runs that measure
  InputRequest inputs;           // of them
  bool infers = false;
  ir::OutputSelection outputs;                          // instead of the model's
  std::vector<surgery::InterfaceType> interface_types;  // that inputs and outputs get
  std::variant<std::monostate, HalfRequest, Int8Request, WeightsRequest, MendRequest> conversion;
  uint64_t last_step = std::numeric_limits<uint64_t>::max();
  bool explains = false;     // each step is a message, and in the report
  bool builds_plan = false;  // the output is a plan of the engine
  std::string builder = {};  // the backend that builds it; empty: the built-in engine
};

struct ConvertOutcome {
  results::ConversionReport report;
  ir::Model model;
};
ConvertOutcome convert(const ConvertRequest& request, Observer& observer);
// Measures the distributions of the values whose ranges the request's int8 needs, and writes them to a file, for
// Int8Request::statistics; nothing is converted.
void save_statistics(const ConvertRequest& request, const std::string& path, Observer& observer);
// True if a file is a plan of the engine that was built from this model's file.
bool is_plan_of(const std::string& plan, const std::string& model);
// The conversion of a model that engines run which are asked for integers.
using EngineIntegers = std::variant<Int8Request, WeightsRequest>;
struct QuantizedCopy {
  const ir::Model& model;
  const EngineIntegers& integers;
  const InputRequest& inputs;
  const exec::SessionOptions& session;  // of runs that measure, but for settings of backends
};
// nullopt, and said: quantizers in the model decide, where layers are to compute with integers.
std::optional<ir::Model> quantized(const QuantizedCopy& copy, Observer& observer);

// A calibration under the names that users know.
struct Calibrator {
  std::string_view word;
  std::string_view peer;   // class of TensorRT
  std::string_view cache;  // name in the caches that it reads
  calibrate::Calibration calibration;
};
// The first one means a choice among the others.
std::span<const Calibrator> calibrators();
// Ranges are found as one of calibrators() does it.
void set_calibrator(const Calibrator& calibrator, Int8Request& request);

}  // namespace assay::tasks
