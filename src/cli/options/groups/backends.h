#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "cli/options/arguments.h"
#include "cli/options/spec.h"
#include "tasks/inputs.h"

namespace assay::cli {

// Chooses the backends that run the model, in the order typed, and the places of their libraries. `takes_plans`:
// engines that were built earlier, too.
OptionGroup backend_group(bool takes_plans = false);
// The group for commands that have `--python` in another one.
OptionGroup without_python(OptionGroup group);
// Names of the chosen backends in the order typed. Error (unsupported) for one that this build does not have.
std::vector<std::string> chosen_backends(const Arguments& arguments);
// The engines among them, by number.
std::map<size_t, std::string> chosen_plans(const Arguments& arguments);
// Names of all backends of this build.
std::span<const std::string_view> backend_choices();
// The peer's words for backends, by name: `trt` for the engine.
std::map<std::string, std::string> peer_words();
exec::LibrarySearch library_search(const Arguments& arguments);

// A group for each backend that declares settings: `--providers` of ONNX Runtime, `--openvino-device`.
std::vector<OptionGroup> backend_settings_groups();
// That of the engine, without the options that are left out.
OptionGroup engine_settings_group(std::initializer_list<std::string_view> left_out = {});

// `--threads`, `--max-memory`, `--max-steps`, `--max-work`.
// For commands that ask TensorRT without running a model: the flag that chooses it, the Python, and its package.
OptionGroup tensorrt_group(std::string_view help);
// A warning for each setting that is given of a library that is none of these backends.
std::vector<std::string> unused_settings(const Arguments& arguments, std::span<const std::string> backends);
OptionGroup limits_group();
// The session options of all groups above that the command has.
exec::SessionOptions session_options(const Arguments& arguments);
// The search for libraries and the settings of backends alone, for commands that run nothing.
exec::SessionOptions library_options(const Arguments& arguments);

}  // namespace assay::cli
