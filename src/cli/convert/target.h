#pragma once

#include <string>

#include "cli/options/arguments.h"

namespace assay::cli {

// The output of a conversion.
struct ConversionTarget {
  std::string output;
  bool is_engine = false;   // a plan of the engine, not an ONNX model
  bool is_network = false;  // the layers of one, as an ONNX model
};

// By `--convert-to`, else by the name of the output; without both an engine, unless a change of the model is asked for.
// Error (usage) for other kinds of files, for options that the other target has, and without `-o` if nothing would
// change; (unsupported) for what the engine does not do.
ConversionTarget conversion_target(const Arguments& arguments);

}  // namespace assay::cli
