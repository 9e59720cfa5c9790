#pragma once

#include <span>
#include <string>

#include "ir/model.h"

namespace assay::surgery {

// The type of an input or output by name; an empty name: of all that have no type of their own here.
struct InterfaceType {
  std::string name;
  tensor::DType dtype;
};

// Gives inputs and outputs other types; Casts connect them with what the model computes. Error (usage) for names that
// are neither, or values that are no tensors of numbers.
void set_interface_types(ir::Model& model, std::span<const InterfaceType> types);

}  // namespace assay::surgery
