#pragma once

#include <vector>

#include "ir/rewriter.h"
#include "results/rewrite_steps.h"
#include "tasks/observer.h"

namespace assay::tasks {

// Explains each step in a message, and lists them.
std::vector<results::StepListing> explain_steps(const ir::Rewriter& rewriter, Observer& observer);

}  // namespace assay::tasks
