#pragma once

#include <optional>
#include <string>

#include "base/files.h"

namespace assay::onnx {

// What a file is that is no ONNX model, told by its first bytes, and what helps: `it is a pointer of Git LFS, …`.
// nullopt: it looks like nothing known. Only for files that could not be read.
std::optional<std::string> describe_foreign(Bytes bytes);

// `the file ends after 20000 of 70875 bytes`, where a field of a model goes on behind the end of the file.
std::optional<std::string> describe_cut(Bytes bytes);

}  // namespace assay::onnx
