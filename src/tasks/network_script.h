#pragma once

#include <string>

#include "tasks/load.h"

namespace assay::tasks {

// The network that a function of a Python script draws with the package's `tensorrt` or loaders, as an ONNX model.
// `script`: FILE.py or FILE.py:FUNCTION, by default `load_network`. Error (usage) if the script fails.
LoadedModel load_network_script(const std::string& script, Observer& observer);

}  // namespace assay::tasks
