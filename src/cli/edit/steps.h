#pragma once

#include <cstdint>
#include <vector>

#include "base/log.h"
#include "cli/options/arguments.h"
#include "cli/options/spec.h"
#include "ir/rewriter.h"

namespace assay::cli {

// `--explain`, `--stop-after-step`: of all commands that rewrite a model in numbered steps.
std::vector<OptionRow> step_rows();
// Of `--stop-after-step`; the greatest number without it. Error (usage) for other words.
uint64_t last_step(const Arguments& arguments);
// A line for each step.
void explain_steps(const ir::Rewriter& rewriter, Log& log);

}  // namespace assay::cli
