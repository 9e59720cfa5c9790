#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "cli/options/arguments.h"
#include "cli/options/spec.h"
#include "tasks/convert.h"

namespace assay::cli {

// The kind of output, as far as it is known before conversions are asked: `open` is decided by them. An engine is made
// of the converted model, and options that permit it something convert nothing.
enum class Target : uint8_t { onnx, engine, open };

// One kind of change from an ONNX model to another; each has a file of its own in this folder.
struct Conversion {
  // The suffix of the default output, `<model>.<suffix>.onnx`; empty: this conversion was not requested. Checks every
  // value.
  std::string_view (*suffix)(const Arguments& arguments, Target target);
  std::vector<OptionGroup> (*groups)();
  // Adds its options to the request.
  void (*request)(const Arguments& arguments, tasks::ConvertRequest& request);
};

// All conversions.
std::span<const Conversion> conversions();

}  // namespace assay::cli
