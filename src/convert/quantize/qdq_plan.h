#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/diagnostics.h"
#include "convert/quantize/qdq_options.h"
#include "convert/quantize/qdq_rules.h"

namespace assay::convert {

// The edits that quantize a model; nothing is edited yet.
struct QdqPlan {
  std::vector<QdqRole> roles;         // by node: of those that are to work on integers, else `none`
  std::vector<bool> is_quantized;     // by value: an activation that is rounded to integers
  std::vector<ir::ValueId> range_of;  // by value: whose range it has
  std::vector<Layer> layers;          // compute and elementwise nodes, in the order of the model
  std::vector<std::string> ranges(const ir::Model& model) const;  // names of the values whose ranges are needed
};

// Error (usage) for a name in the options that no node has, or an operator that has no integer form; (unsupported) for
// an operator set without the QuantizeLinear that is needed.
QdqPlan plan_qdq(const ir::Model& model, const QdqOptions& options, Diagnostics& findings);

}  // namespace assay::convert
