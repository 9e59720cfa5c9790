#pragma once

#include "cli/options/arguments.h"
#include "cli/options/spec.h"
#include "tasks/inputs.h"
#include "tasks/load.h"

namespace assay::cli {

// Options for building an engine that is saved.
OptionGroup engine_build_group();
// The shapes that engines are tuned for, unless others are named: those of generated inputs.
void add_default_profile(const Arguments& arguments, exec::SessionOptions& session);
// The shapes that the chosen profile, or the first, is tuned for.
void add_profile_shapes(const Arguments& arguments, std::vector<exec::InputShape>& shapes);

// Options of TensorRT that the built-in engine does not have, or of TensorFlow: they are recognised so that they can be
// refused with a reason.
OptionGroup engine_view_group();
// `engine_view_group` for commands that build or run an engine.
OptionGroup engine_debug_group();
// `engine_debug_group` for commands in which `--int8` calibrates.
OptionGroup engine_run_group();
// `engine_run_group` without options that also apply to a conversion to ONNX.
OptionGroup engine_convert_group();

// `--opset` where models of TensorFlow become ONNX models: its row, and its value. Error (unsupported) for other
// models.
OptionRow opset_row();
void read_opset(const Arguments& arguments, tasks::ModelSource& model);

// Error (unsupported) if an option of the group was given.
void refuse_absent_options(const OptionGroup& group, const Arguments& arguments);

// Reasons for refusing such options.
using tasks::kNoEngineOption;
using tasks::kNoTensorFlow;

}  // namespace assay::cli
