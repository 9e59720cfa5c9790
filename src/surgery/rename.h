#pragma once

#include <string>
#include <vector>

#include "ir/model.h"

namespace assay::surgery {

// A name and its successor. One `*` in `from` stands for any text, which takes the place of the `*` in `to`.
struct Renaming {
  std::string from;
  std::string to;
};

// New names, all given at once, so that two can be exchanged.
struct Renamings {
  std::vector<Renaming> inputs;   // of the main graph
  std::vector<Renaming> outputs;  // likewise
  std::vector<Renaming> values;   // any, inputs and outputs among them
  std::vector<Renaming> nodes;    // by their names or those of their results
  bool is_empty() const { return inputs.empty() && outputs.empty() && values.empty() && nodes.empty(); }
};

struct Renamed {
  std::string what;  // `input`, `output`, `value`, `node`
  std::string from;
  std::string to;
};

// Renames. A name means what has it in the main graph; if nothing has, in bodies; if nothing has, in functions. Error
// (usage) for names and patterns that nothing has, for a node's name that several have, for two names given to one
// thing, and for a new name that is empty or that another value has in the same graph, a body of it or around it.
std::vector<Renamed> rename(ir::Model& model, const Renamings& renamings);

}  // namespace assay::surgery
