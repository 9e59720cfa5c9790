#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/diagnostics.h"
#include "ir/model.h"

namespace assay::onnx {

// Parses a model in ONNX's text syntax. A syntax error throws Error (parse) with line and column; what is wrong in the
// graph itself (names defined twice, never, …) goes into `findings`, as for a binary file.
ir::Model parse_text(std::string_view text, Diagnostics& findings);

// True if the name is that of a file in this syntax: .onnxtxt, .onnxtext.
bool is_text_file(const std::filesystem::path& path);

struct TextOptions {
  // Tensors of more elements are printed without their values, as `{...}` with a comment, and are not parsed back.
  uint64_t most_elements = 1u << 20;
};

// The model in ONNX's text syntax; what parse_text and the package `onnx` read back as the same model.
std::string to_text(const ir::Model& model, const TextOptions& options = {});

}  // namespace assay::onnx
