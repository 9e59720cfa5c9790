#pragma once

#include "ir/rewriter.h"
#include "tasks/observer.h"

namespace assay::tasks {

// A message for each step.
void explain_steps(const ir::Rewriter& rewriter, Observer& observer);

}  // namespace assay::tasks
