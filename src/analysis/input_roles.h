#pragma once

#include <vector>

#include "exec/generated_inputs.h"

namespace assay::analysis {

// The roles of the main graph's inputs, derived from the nodes that use them: integers that index a table
// (Gather and its relatives, OneHot, embeddings), and integers or booleans that are masks. Followed through nodes that
// only move or convert values.
std::vector<exec::InputRole> input_roles(const ir::Model& model);

}  // namespace assay::analysis
