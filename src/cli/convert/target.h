#pragma once

#include <string>

#include "cli/options/arguments.h"

namespace assay::cli {

// Where the converted ONNX model goes. Error (unsupported) if an engine is requested, by an option, by the name of
// the output or by default; (usage) for other kinds of files, and without `-o` if nothing would change.
std::string conversion_output(const Arguments& arguments);

}  // namespace assay::cli
