#pragma once

#include "cli/options/arguments.h"
#include "cli/options/spec.h"
#include "tasks/save.h"

namespace assay::cli {

// Options for writing ONNX models: external data.
OptionGroup onnx_save_group();
// `path` is the file of the model; by default, external data is written next to it as `<model>.data`.
onnx::SaveOptions save_options(const Arguments& arguments, const std::string& path);

}  // namespace assay::cli
