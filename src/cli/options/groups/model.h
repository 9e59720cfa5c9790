#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.h"
#include "cli/environment.h"
#include "cli/options/arguments.h"
#include "cli/options/spec.h"
#include "ir/model.h"
#include "onnx/load.h"

namespace assay::cli {

// The positional `model_file`.
OptionRow model_positional();
OptionRow optional_model_positional();
// `--model-type`: what kind of file the model is.
OptionGroup model_group();
// How ONNX files are loaded: external data.
OptionGroup onnx_load_group();

struct LoadedModel {
  ir::Model model;
  Diagnostics findings;
  double load_seconds = 0;
};

// Loads the ONNX model at `path` as model_group() and onnx_load_group() say, with the line `Loading model: …`. Kinds of
// models that need a backend which is not there are an Error (unsupported).
LoadedModel load_model(const std::string& path, const Arguments& arguments, Environment& environment);
onnx::LoadOptions load_options(const Arguments& arguments);
// Error (parse) if the model is wrong as a graph: it can be looked at, but not run.
void require_runnable(const LoadedModel& loaded);
// Prints each finding as a warning.
void print_findings(const Diagnostics& findings, Environment& environment);

}  // namespace assay::cli
