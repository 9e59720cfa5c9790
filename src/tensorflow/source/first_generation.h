#pragma once

#include "tensorflow/source/model.h"

namespace assay::tensorflow {

// Spells control flow of the first generation as that of the second: rings of Enter, Merge, Switch, NextIteration and
// Exit become While, other pairs of Switch and Merge become If, whose bodies are functions. Names of values stay. Rings
// that are not closed, and Merges of what no Switch separates, are left.
void raise_control_flow(SourceModel& model);

// The parts, for one graph.
void raise_loops(SourceModel& model, SourceGraph& graph);
void raise_branches(SourceModel& model, SourceGraph& graph);

}  // namespace assay::tensorflow
