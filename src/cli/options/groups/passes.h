#pragma once

#include <cstdint>
#include <vector>

#include "cli/options/arguments.h"
#include "cli/options/spec.h"
#include "tasks/edit.h"

namespace assay::cli {

// Options that choose passes and end them early: shared by all commands that rewrite models.
OptionGroup pass_group();
// The request that they make. Error (usage) for unknown passes.
tasks::PassRequest pass_request(const Arguments& arguments);

// `--explain`, `--stop-after-step`: of all commands that rewrite a model in numbered steps.
std::vector<OptionRow> step_rows();
// The value of `--stop-after-step`; without it, the greatest number. Error (usage) for other values.
uint64_t last_step(const Arguments& arguments);

}  // namespace assay::cli
