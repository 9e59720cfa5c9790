#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "exec/backend.h"

namespace assay::exec {

// The values that runs of a session may ask for, for backends that compute all outputs of a model at once: what must
// become an output of it, and what needs no computing because it is fed or constant.
class TappedValues {
 public:
  // Error (usage) if the main graph has no value of one of the names.
  TappedValues(const ir::Model& model, std::span<const std::string> names);

  // Results of nodes that were named and are no outputs.
  const std::vector<ir::ValueId>& extra_outputs() const { return extra_outputs_; }
  // The value, if no node computes it.
  std::optional<tensor::Datum> given(std::string_view name, std::span<const Feed> feeds) const;

 private:
  const ir::Model& model_;
  std::map<std::string_view, ir::ValueId> values_;
  std::vector<ir::ValueId> extra_outputs_;
};

}  // namespace assay::exec
