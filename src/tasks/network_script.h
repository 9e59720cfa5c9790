#pragma once

#include <string>

#include "exec/settings.h"
#include "remote/script_function.h"
#include "tasks/load.h"

namespace assay::tasks {

// The network that a function of a Python script draws with the package's `tensorrt` or loaders, as an ONNX model.
// `script`: FILE.py or FILE.py:FUNCTION, by default `load_network`. Error (usage) if the script fails.
// `python`: the interpreter; empty: that of VIRTUAL_ENV or PATH.
LoadedModel load_network_script(const std::string& script, const std::string& python, Observer& observer);

// The engine's settings in the configuration that a function of a script makes for a builder and the network of a
// model.
void read_config_script(const remote::ScriptFunction& script, const std::string& python, const std::string& model,
                        exec::Settings& settings);

}  // namespace assay::tasks
