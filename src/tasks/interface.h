#pragma once

#include <vector>

#include "ir/selection.h"
#include "surgery/interface_types.h"
#include "tasks/load.h"

namespace assay::tasks {

// Inputs and outputs of a model, if they are not those of the file.
struct InterfaceRequest {
  ir::OutputSelection outputs;                // in the place of the model's
  std::vector<surgery::InterfaceType> types;  // that inputs and outputs get
  bool is_empty() const { return outputs.is_empty() && types.empty(); }
};

void set_interface(const InterfaceRequest& request, LoadedModel& loaded);

}  // namespace assay::tasks
