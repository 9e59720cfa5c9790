#pragma once

#include <array>

#include "backends/openvino/ov_library.h"
#include "exec/backend.h"
#include "onnx/export.h"

namespace assay::backends::ov {

// Names of settings.
inline constexpr std::string_view kDevice = "openvino-device";
inline constexpr std::string_view kMode = "openvino-mode";
inline constexpr std::array<std::string_view, 2> kModes = {"ACCURACY", "PERFORMANCE"};

// Reads a model into the library and compiles it for the device and the mode that `options` name: the CPU, and f32
// whatever it would rather compute in. Where the model's file is as the model is, the library reads it. Otherwise it
// gets the model from memory with all weights in it, and where these are too many for that, through files in a private
// temporary folder that exist while it reads.
Owned<CompiledModel> compile(const Library& library, const ir::Model& model, const exec::SessionOptions& options,
                             const onnx::Additions& additions);

// A file of any kind that the library reads, as it is.
Owned<CompiledModel> compile_file(const Library& library, const std::filesystem::path& path,
                                  const exec::SessionOptions& options);

}  // namespace assay::backends::ov
