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
  // What the default output is called, `<model>.<suffix>.onnx`; empty: it is not asked for. `is_onnx`: an ONNX model is
  // to be written in any case, so that words which else permit something to an engine ask for it. Checks every word.
  std::string_view (*suffix)(const Arguments& arguments, bool is_onnx);
  std::vector<OptionGroup> (*groups)();
  // Enters what it asks for.
  void (*request)(const Arguments& arguments, tasks::ConvertRequest& request);
};

// All of them.
std::span<const Conversion> conversions();

}  // namespace assay::cli
