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

// The model, the file that it goes to and how it is saved, by the options of edit_groups(). `suffix` names the default
// output, `<model>.<suffix>.onnx`. Error (usage) for words that contradict each other, before anything is read.
tasks::EditRequest edit_request(const Arguments& arguments, std::string_view suffix);

// The course of every command that changes a model: says that it runs, has the task done, writes the report that
// `--json` asks for. Gives the exit status.
int run_edit(const Arguments& arguments, Environment& environment,
             const std::function<tasks::EditOutcome(tasks::Observer&)>& task);

// The groups that every such command has: logging, model, loading, output, saving, json.
std::vector<OptionGroup> edit_groups(std::vector<OptionGroup> own);

}  // namespace assay::cli
