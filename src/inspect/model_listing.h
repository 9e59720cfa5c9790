#pragma once

#include <string>
#include <vector>

#include "ir/model.h"
#include "ops/inference.h"
#include "results/model_listing.h"

namespace assay::inspect {

// The parts of a model to list.
struct ListingOptions {
  bool layers = false;
  bool attributes = false;
  bool weights = false;
  // Only nodes whose operator, or name, matches one of these wildcards; empty: all.
  std::vector<std::string> ops;
  std::vector<std::string> names;
  const ops::Inference* costs = nullptr;  // set: nodes are listed with their cost
};

// Walks the main graph, then the functions, bodies within their nodes, and hands everything to the sink. The overview
// comes first and is the caller's, who may add to it.
void list_model(const ir::Model& model, const ListingOptions& options, const results::ModelOverview& overview,
                results::ModelListingSink& sink);

// An attribute as listings show it; that of a body has no value. Tensors are those of the model.
results::AttributeListing attribute_listing(const ir::Model& model, const ir::Attribute& attribute);

}  // namespace assay::inspect
