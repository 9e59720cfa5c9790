#pragma once

#include "base/log.h"
#include "cli/options/arguments.h"
#include "cli/options/spec.h"
#include "onnx/export.h"

namespace assay::cli {

// How ONNX models are written: external data.
OptionGroup onnx_save_group();
// `path` is where the model goes: without a name of its own, external data lies beside it as `<model>.data`.
onnx::SaveOptions save_options(const Arguments& arguments, const std::string& path);

// Writes the model, says where it is, and gives its outputs types where the edits left them without.
void save_model(ir::Model& model, const std::string& path, const onnx::SaveOptions& options, Log& log);

}  // namespace assay::cli
