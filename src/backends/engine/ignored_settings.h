#pragma once

#include <vector>

#include "base/diagnostics.h"
#include "exec/settings.h"

namespace assay::backends {

// Settings of TensorRT that mean nothing on a processor: about GPUs, or about how its files are kept.
std::vector<exec::Setting> ignored_settings();
// Error (usage) for a value that TensorRT does not have; otherwise one finding names all that are set.
void tell_ignored_settings(const exec::Settings& settings, Diagnostics& findings);

}  // namespace assay::backends
