#pragma once

#include <optional>
#include <string>

#include "base/files.h"

namespace assay::onnx {

// `the file ends after 20000 of 70875 bytes`, where a field of a model goes on behind the end of the file.
std::optional<std::string> describe_cut(Bytes bytes);

}  // namespace assay::onnx
