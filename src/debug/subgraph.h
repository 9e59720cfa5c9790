#pragma once

#include <functional>
#include <string>
#include <vector>

#include "debug/minimize.h"
#include "ir/model.h"
#include "tensor/datum.h"

namespace assay::debug {

// Replacements of a value that is used and no longer computed.
enum class CutRule : uint8_t {
  inputs,    // inputs; integers that say a shape are constants
  branches,  // inputs for what the first node needs; what other branches give are constants
};

// The values of a run of the whole model, by the values of the main graph; nothing: it is not known.
using ValueOracle = std::function<std::optional<tensor::Datum>(ir::ValueId)>;

// A model in parts: the nodes of its main graph, in order, but for Constant nodes, which cost nothing.
class Parts {
 public:
  explicit Parts(const ir::Model& model);

  uint32_t count() const { return static_cast<uint32_t>(nodes_.size()); }
  ir::NodeId node(uint32_t part) const { return nodes_[part]; }
  const ir::Model& model() const { return model_; }
  // The parts together with all that they need, or with all that needs them.
  Subset with_producers(const Subset& parts) const;
  Subset with_users(const Subset& parts) const;
  // Parts that only go together because values between them are not known, in the order of their first ones.
  std::vector<Subset> units(FunctionRef<bool(ir::ValueId value)> is_known) const;

 private:
  Subset closed(const Subset& parts, bool upwards) const;

  const ir::Model& model_;
  std::vector<ir::NodeId> nodes_;
  std::vector<uint32_t> part_of_;  // by node
};

struct SubgraphOptions {
  CutRule rule = CutRule::inputs;
  ValueOracle value_of;
  std::function<void(const std::string& name)> on_frozen = {};  // a value that became a constant
};

// The model with these parts alone: outputs are the model's, and results that only the rest needed. Error (unsupported)
// if a value that would become an input or a constant is not known.
ir::Model subgraph(const Parts& parts, const Subset& kept, const SubgraphOptions& options);

}  // namespace assay::debug
