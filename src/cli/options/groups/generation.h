#pragma once

#include "cli/options/arguments.h"
#include "cli/options/spec.h"
#include "tasks/run.h"

namespace assay::cli {

// `--decode`, `--teacher`, `--feed`.
OptionGroup generation_group();
// The generation that is asked for; nullopt: none. Error (usage) for what contradicts it. `backends`: of the sides.
std::optional<tasks::GenerationRequest> generation_request(const Arguments& arguments,
                                                           const std::vector<std::string>& backends);

}  // namespace assay::cli
