#pragma once

#include "backends/onnxrt/ort_library.h"
#include "exec/backend.h"

namespace assay::backends::ort {

// Names of settings.
inline constexpr std::string_view kProviders = "providers";
inline constexpr std::string_view kOptimizationLevel = "graph-optimization-level";
inline constexpr std::string_view kPlugins = "ep";
inline constexpr std::string_view kPluginOptions = "ep-options";
inline constexpr std::string_view kShowAssignment = "show-assignment";

// The providers that are meant, by their full names, plugins first; the processor's if none was requested.
std::vector<std::string> chosen_providers(const Library& library, const exec::SessionOptions& wishes);

// The library's options for a session: providers, level of optimisation, threads; nothing is logged, errors come back
// as such. Error (usage) for a provider or a level that does not exist.
Owned<SessionOptions> make_options(const Library& library, const exec::SessionOptions& wishes);

}  // namespace assay::backends::ort
