#pragma once

#include <filesystem>
#include <string_view>

#include "base/diagnostics.h"
#include "ir/model.h"

namespace assay::onnx {

struct LoadOptions {
  std::filesystem::path external_folder;  // empty: the model's own folder
  bool ignore_external_data = false;
  bool is_onnx = false;  // the caller was told so: the file's name is not looked at
};

// Loads an ONNX model: a protobuf file, a file in ONNX's text syntax (`.onnxtxt`), or standard input (`-`). Files whose
// names say that they are something else are refused by name. What is wrong in the graph itself goes into `findings`.
ir::Model load(const std::filesystem::path& path, const LoadOptions& options, Diagnostics& findings);

}  // namespace assay::onnx
