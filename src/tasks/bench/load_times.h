#pragma once

#include <filesystem>
#include <string_view>

#include "exec/backend.h"
#include "results/bench.h"
#include "tasks/observer.h"

namespace assay::tasks {

// Opens a plan again and again, from its file on, and tells what that takes; `work` names it.
results::LoadTimes time_loading(std::string_view work, const exec::Backend& backend, const std::filesystem::path& plan,
                                const exec::SessionOptions& options, Observer& observer);

}  // namespace assay::tasks
