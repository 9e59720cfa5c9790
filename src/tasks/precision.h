#pragma once

#include <string>

#include "results/precision.h"
#include "tasks/debug.h"

namespace assay::tasks {

enum class LowPrecision : uint8_t { float16, bfloat16, int8 };
enum class PrecisionDirection : uint8_t { forward, reverse, any };

// Finds layers that have to stay in float32 so that a model of less precision is still judged good: the first ones, the
// last ones, or as few as possible.
struct PrecisionRequest {
  ModelSource model;
  InputRequest inputs;  // of calibration, and of the comparison
  bool infers = false;
  InterfaceRequest interface;
  LowPrecision low = LowPrecision::float16;
  PrecisionDirection direction = PrecisionDirection::forward;
  bool is_linear = false;
  ComparisonRequest comparison;
  CheckRequest check;    // used if nothing is compared
  std::string artifact;  // the file that is checked: a plan of the engine, or by its name an ONNX model
  bool keeps_artifact = false;
  std::string output;  // the model that was found, as ONNX; empty: none
  onnx::SaveOptions save;
};
results::PrecisionReport debug_precision(const PrecisionRequest& request, Observer& observer);

}  // namespace assay::tasks
