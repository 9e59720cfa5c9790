#pragma once

#include <string>
#include <vector>

#include "ir/rewriter.h"
#include "tasks/observer.h"

namespace assay::tasks {

// Explains each step in a message, and returns the explanations.
std::vector<std::string> explain_steps(const ir::Rewriter& rewriter, Observer& observer);

}  // namespace assay::tasks
