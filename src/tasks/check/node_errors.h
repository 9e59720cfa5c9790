#pragma once

#include "base/diagnostics.h"
#include "exec/backend.h"
#include "lint/lint.h"
#include "results/lint_report.h"

namespace assay::tasks {

// Asks a backend about the nodes of the main graph that fail: each runs alone, on what it gets in the model. What the
// backend says takes the place of the report's message, and the backend is its source. Nothing changes where it runs
// the node.
void tell_in_words_of(const exec::Backend& backend, const exec::LibrarySearch& search, const ir::Model& model,
                      const lint::RunInputs& inputs, const ops::InterpreterOptions& limits,
                      results::LintReport& report);

}  // namespace assay::tasks
