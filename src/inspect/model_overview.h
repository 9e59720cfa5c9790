#pragma once

#include <string>
#include <vector>

#include "ir/model.h"
#include "results/model_listing.h"

namespace assay::inspect {

// Header facts, counts, operators, weights and quantisation of a model; no weight is read.
results::ModelOverview model_overview(const ir::Model& model);

// The types of values as results show them.
results::ValueInfo value_info(const ir::Model& model, ir::ValueId value);
std::string type_text(const ir::Model& model, ir::TypeId type);
std::vector<results::ListedDim> dims_of(const ir::Model& model, const ir::Type& type);

}  // namespace assay::inspect
