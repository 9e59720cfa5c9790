#pragma once

#include "cli/options/arguments.h"
#include "cli/options/spec.h"
#include "ir/selection.h"
#include "tasks/run.h"

namespace assay::cli {

// Groups that only `run` has: which values are compared, what is loaded and saved, iterations, post-processing.
OptionGroup output_group();
// `--tensor-dtypes`, `--all-tensor-dtypes`: types of inputs and outputs.
OptionGroup interface_group();
std::vector<surgery::InterfaceType> parse_interface_types(const Arguments& arguments);

ir::OutputSelection parse_outputs(const Arguments& arguments, std::string_view prefix = "onnx-");
OptionGroup inference_group();
OptionGroup saved_data_group();
OptionGroup postprocess_group();
OptionGroup report_group();
}  // namespace assay::cli
