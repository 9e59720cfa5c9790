#pragma once

#include <optional>

#include "exec/backend.h"
#include "results/profile_report.h"

namespace assay::tasks {

// The best that a device besides the processor reaches with these settings: in a large product of a type, 16-bit types
// where the settings let the backend compute in them, and in copies of its memory. Nullopt: the processor does the
// work, or the device refuses.
std::optional<results::MachineRoof> measure_device_roof(const exec::Backend& backend,
                                                        const exec::SessionOptions& options, tensor::DType type);

}  // namespace assay::tasks
