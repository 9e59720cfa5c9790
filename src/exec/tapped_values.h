#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "exec/backend.h"

namespace assay::exec {

// The values that may be requested from a session, for backends that compute all outputs of a model at once: those that
// must become outputs, and those that need no computing because they are fed or constant.
class TappedValues {
 public:
  // Error (usage) if the main graph has no value of one of the names.
  TappedValues(const ir::Model& model, std::span<const std::string> names);

  // Named results of nodes that are not outputs.
  const std::vector<ir::ValueId>& extra_outputs() const { return extra_outputs_; }
  // The value, if no node computes it.
  std::optional<tensor::Datum> given(std::string_view name, std::span<const Feed> feeds) const;

 private:
  const ir::Model& model_;
  std::map<std::string_view, ir::ValueId> values_;
  std::vector<ir::ValueId> extra_outputs_;
};

}  // namespace assay::exec
