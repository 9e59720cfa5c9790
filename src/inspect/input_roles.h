#pragma once

#include <vector>

#include "exec/generated_inputs.h"

namespace assay::inspect {

// What the inputs of the main graph are for, as far as the nodes that use them tell: integers that look into a table
// (Gather and its relatives, OneHot, embeddings), and integers or booleans that are masks. Followed through nodes that
// only move or convert values.
std::vector<exec::InputRole> input_roles(const ir::Model& model);

}  // namespace assay::inspect
