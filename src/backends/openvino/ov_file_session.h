#pragma once

#include <filesystem>
#include <memory>

#include "backends/openvino/ov_library.h"
#include "exec/backend.h"

namespace assay::backends::ov {

// A session of the library on a file that is no ONNX model. Inputs and outputs are as the library names them.
std::unique_ptr<exec::Session> make_file_session(const Library& library, const std::filesystem::path& path,
                                                 const exec::SessionOptions& options);

}  // namespace assay::backends::ov
