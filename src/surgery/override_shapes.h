#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/edit.h"

namespace assay::surgery {

// A dim as a user writes it: a number, a name, or neither: nothing is known.
struct NewDim {
  std::optional<int64_t> number;
  std::string name;
};

struct NewShape {
  ir::ValueId input;
  std::vector<NewDim> dims;
};

// Gives graph inputs other shapes. What the model says of the shapes of all other values but inputs is forgotten, as it
// may no longer hold; element types stay. Error (usage) for values that are no tensors.
void override_shapes(ir::Model& model, std::span<const NewShape> shapes);

}  // namespace assay::surgery
