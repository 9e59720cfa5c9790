#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "cli/environment.h"
#include "cli/options/arguments.h"
#include "cli/options/groups/model.h"
#include "cli/options/spec.h"
#include "tasks/edit.h"

namespace assay::cli {

// The model, the output file and how it is saved, from the options of edit_groups(). `suffix` names the default
// output, `<model>.<suffix>.onnx`. Error (usage) for contradictory options, before anything is read.
tasks::EditRequest edit_request(const Arguments& arguments, std::string_view suffix);

// Runs every command that changes a model: logs the start, runs the task, writes the report for `--json`. Returns the
// exit status.
int run_edit(const Arguments& arguments, Environment& environment,
             const std::function<tasks::EditOutcome(tasks::Observer&)>& task);

// The option groups of every such command: logging, model, loading, output, saving, json.
std::vector<OptionGroup> edit_groups(std::vector<OptionGroup> own);

}  // namespace assay::cli
