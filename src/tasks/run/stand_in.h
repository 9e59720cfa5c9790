#pragma once

#include "exec/signature.h"
#include "ir/model.h"

namespace assay::tasks {

// A model with one node, which takes and gives what a session of another library's file does: for inputs to be made,
// and outputs to be chosen by name.
ir::Model stand_in_model(const exec::Signature& signature);

}  // namespace assay::tasks
