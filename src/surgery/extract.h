#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/diagnostics.h"
#include "ir/model.h"

namespace assay::surgery {

// A dim as given by a user: a number, a symbol, or nothing for an open dim.
using BoundaryDim = std::variant<std::monostate, int64_t, std::string>;

// A value that becomes an input or an output. Unset parts are taken from the model.
struct Boundary {
  std::string name;
  std::optional<tensor::DType> dtype;
  std::optional<std::vector<BoundaryDim>> shape;
};

struct Extraction {
  std::vector<Boundary> inputs;   // in this order; none: the model's own
  std::vector<Boundary> outputs;  // likewise
};

// The inputs and then the outputs that the model will have. Error (usage) for unknown names.
std::vector<ir::ValueId> boundary_values(const ir::Model& model, const Extraction& extraction);
// True if the type or shape of a named input, or the type of a named output, is still unknown from the boundaries and
// the model together.
bool is_open(const ir::Model& model, const Extraction& extraction);

// Reduces the model to the part between the inputs and the outputs. Error (usage) if outputs need more than the given
// inputs, an input cuts nothing, or types contradict; (parse) if the rest is not a valid graph. After an Error the
// model must not be used.
void extract(ir::Model& model, const Extraction& extraction, Diagnostics& findings);

}  // namespace assay::surgery
