#pragma once

#include <string>

#include "tensorflow/source/checkpoint.h"
#include "tensorflow/source/model.h"

namespace assay::tensorflow {

// Gives the variables of a model their values, as its own graph for restoring does, which ends in `restore_node`; those
// that it does not restore by their names.
void restore_variables(const Checkpoint& checkpoint, const std::string& restore_node, SourceModel& model);

}  // namespace assay::tensorflow
