#pragma once

#include <map>
#include <string>

#include "exec/generated_inputs.h"
#include "ops/inference.h"
#include "results/memory_needs.h"

namespace assay::analysis {

// Sizes of the dims that inputs leave open, by name; those of a decoder's mask follow from its caches and ids.
using OpenSizes = std::map<std::string, int64_t>;

// The sizes that shapes give the model's inputs. Error (usage) for shapes that contradict the model or each other.
OpenSizes open_sizes(const ir::Model& model, const std::vector<exec::InputShape>& shapes);

// The types of the model's inputs with these sizes; `other`: of dims that have none. Error (usage) without it.
ops::InputTypes sized_types(const ir::Model& model, const OpenSizes& sizes, std::optional<int64_t> other = {});

// Memory of a run. Peaks as formulas are those of several sizes of the open dims, each small and large; the one for
// `sizes` is exact. `types`: those of the model as it is.
results::MemoryNeeds memory_needs(const ir::Model& model, const ops::Inference& types, const OpenSizes& sizes);

}  // namespace assay::analysis
