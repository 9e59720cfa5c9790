#pragma once

#include "passes/outline/repeats.h"

namespace assay::passes {

// Makes a function of what is repeated and calls of the occurrences; one step. False where nothing is changed: what is
// repeated gives nothing, or the rewriter is done.
bool outline(PassRun& run, const NodeClasses& classes, const match::Repeat& repeat);

}  // namespace assay::passes
