#pragma once

#include <string>
#include <string_view>

#include "cli/environment.h"
#include "cli/options/arguments.h"
#include "cli/options/spec.h"
#include "tasks/load.h"

namespace assay::cli {

// The positional `model_file`.
OptionRow model_positional();
OptionRow optional_model_positional();
// The positional for commands that take several models.
OptionRow models_positional(bool is_required);
// `--model-type`: what kind of file the model is.
OptionGroup model_group();
// Options for loading ONNX files: external data.
OptionGroup onnx_load_group();

// The model at this path, with the options of model_group() and onnx_load_group().
tasks::ModelSource model_source(const std::string& path, const Arguments& arguments);
// Loads it, with the line `Loading model: …`.
tasks::LoadedModel load_model(const std::string& path, const Arguments& arguments, Environment& environment);
// Prints each finding as a warning.
void print_findings(const Diagnostics& findings, const Arguments& arguments, Environment& environment);

}  // namespace assay::cli
