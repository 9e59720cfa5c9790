#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "cli/options/arguments.h"
#include "cli/options/spec.h"
#include "tasks/convert.h"

namespace assay::cli {

// One kind of change from an ONNX model to another; each has a file of its own in this folder.
struct Conversion {
  // The suffix of the default output, `<model>.<suffix>.onnx`; empty: this conversion was not requested. `is_onnx`: an
  // ONNX model is written in any case, so options that only permit an engine something request it. Checks every value.
  std::string_view (*suffix)(const Arguments& arguments, bool is_onnx);
  std::vector<OptionGroup> (*groups)();
  // Adds its options to the request.
  void (*request)(const Arguments& arguments, tasks::ConvertRequest& request);
  bool precedes_engines;  // an engine is made of the converted model
};

// All conversions.
std::span<const Conversion> conversions();

}  // namespace assay::cli
