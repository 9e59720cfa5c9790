#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/diagnostics.h"
#include "ir/model.h"

namespace assay::surgery {

// A dim as a user says it: a number, a symbol, or nothing, for a dim that is open.
using BoundaryDim = std::variant<std::monostate, int64_t, std::string>;

// A value that becomes an input or an output. What is not said is as the model has it.
struct Boundary {
  std::string name;
  std::optional<tensor::DType> dtype;
  std::optional<std::vector<BoundaryDim>> shape;
};

struct Extraction {
  std::vector<Boundary> inputs;   // in this order; none: the model's own
  std::vector<Boundary> outputs;  // likewise
};

// The inputs and then the outputs that the model will have. Error (usage) for names that it does not know.
std::vector<ir::ValueId> boundary_values(const ir::Model& model, const Extraction& extraction);
// Whether the words and the model together leave the type or shape of a named input, or the type of a named output,
// open.
bool is_open(const ir::Model& model, const Extraction& extraction);

// Cuts the model down to what lies between the inputs and the outputs. Error (usage) and a model that is of no further
// use where outputs need more than the given inputs, where an input cuts nothing, where types contradict; (parse) where
// what is left is no valid graph.
void extract(ir::Model& model, const Extraction& extraction, Diagnostics& findings);

}  // namespace assay::surgery
