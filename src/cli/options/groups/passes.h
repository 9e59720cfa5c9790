#pragma once

#include <cstdint>
#include <vector>

#include "cli/options/arguments.h"
#include "cli/options/spec.h"
#include "tasks/edit.h"

namespace assay::cli {

// Which passes run, and how far: options that all commands share which rewrite models.
OptionGroup pass_group();
// What they ask for. Error (usage) for unknown passes.
tasks::PassRequest pass_request(const Arguments& arguments);

// `--explain`, `--stop-after-step`: of all commands that rewrite a model in numbered steps.
std::vector<OptionRow> step_rows();
// Of `--stop-after-step`; the greatest number without it. Error (usage) for other words.
uint64_t last_step(const Arguments& arguments);

}  // namespace assay::cli
