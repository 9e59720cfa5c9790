#pragma once

#include <string>

#include "cli/options/arguments.h"

namespace assay::cli {

// Where the converted ONNX model goes. Error (unsupported) where an engine is asked for, by word, by the name of the
// output or by saying nothing else; (usage) for other kinds of files, and without `-o` where nothing is to be changed.
std::string conversion_output(const Arguments& arguments);

}  // namespace assay::cli
