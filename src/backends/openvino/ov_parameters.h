#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backends/openvino/ov_library.h"
#include "exec/backend.h"

namespace assay::backends::ov {

// The map from inputs of a model to parameters of the compiled one. The library takes inputs with a default as
// constants and may drop inputs that nothing uses.
class Parameters {
 public:
  // Error (unsupported) if a parameter is no input of the model.
  Parameters(const Library& library, const ir::Model& model, const CompiledModel& compiled);

  // The index of the parameter; empty if the library dropped it. Error (unsupported) for what it cannot be given.
  std::optional<size_t> find(const exec::Feed& feed) const;

 private:
  std::vector<std::string> inputs_;  // of the model, without those that have a default
  std::vector<std::string> names_;   // of the parameters, in the library's order
};

}  // namespace assay::backends::ov
