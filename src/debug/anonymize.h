#pragma once

#include <map>
#include <optional>
#include <string>

#include "ir/model.h"

namespace assay::debug {

struct AnonymousModel {
  ir::Model model;
  std::map<std::string, std::string> names;  // of inputs and outputs, by their names before
};

struct AnonymizeOptions {
  bool renames_interface = true;  // inputs and outputs too
  bool replaces_weights = true;   // floats, by random numbers of the same mean and spread
};

// The model made anew: nodes, attributes, types and weights, under names that say nothing, without documentation and
// metadata. Strings in attributes stay. Nothing: it has bodies or functions.
std::optional<AnonymousModel> anonymize(const ir::Model& model, const AnonymizeOptions& options);

}  // namespace assay::debug
