#pragma once

#include <string>
#include <vector>

#include "base/diagnostics.h"
#include "ir/model.h"

namespace assay::ir {

// Values of the main graph that stand for its outputs; names may have shell wildcards, operators any case.
struct OutputSelection {
  std::vector<std::string> names;     // none, and no types and not everything: the model's own outputs
  std::vector<std::string> op_types;  // results of all nodes of these operators
  std::vector<std::string> excluded;
  std::vector<std::string> debugged;  // plain names: values beside all others
  bool is_everything = false;         // results of all nodes but Constant, in the order of the nodes
  // Nothing stands for the outputs but themselves.
  bool is_empty() const { return names.empty() && op_types.empty() && excluded.empty() && !is_everything; }
};

// True if the names and wildcards of `excluded` hold the name.
bool is_excluded(const OutputSelection& selection, std::string_view name);

// The selected values, none twice; the name of a node means its results. A pattern that fits nothing is a finding; a
// plain name that no value has, and a selection of nothing, are an Error (usage).
std::vector<ValueId> select_outputs(const Model& model, const OutputSelection& selection, Diagnostics& findings);

}  // namespace assay::ir
