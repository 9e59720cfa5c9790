#pragma once

#include "base/log.h"
#include "cli/options/arguments.h"
#include "cli/options/groups/check.h"
#include "cli/options/spec.h"
#include "tasks/debug.h"

namespace assay::cli {

// A backend that is judged by comparing it with something else, without a command.
std::vector<OptionGroup> comparison_groups();
// The groups of a command that searches in a model, by checks or comparisons: those of loading it, `own`, those of
// inputs, saving and reports, and `further`.
std::vector<OptionGroup> search_groups(OptionGroup own, const CheckWords& words, std::vector<OptionGroup> further = {});
// Reads a comparison. Its backend is empty if none is chosen; `for_saved` compares with saved results if no other is.
// Error (usage) for a comparison with nothing, or one that names no backend.
tasks::ComparisonRequest comparison_request(const Arguments& arguments, Log& log, std::string_view for_saved = {});
// Error (usage) if an option about commands that check was given beside a backend.
void refuse_check(const Arguments& arguments);
// The command that compares a reproducer likewise; empty: a command checks.
std::string reproducing_words(const Arguments& arguments);
// The program and the libraries of backends.
std::string version_lines();

}  // namespace assay::cli
