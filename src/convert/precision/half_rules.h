#pragma once

#include <string>
#include <vector>

#include "base/diagnostics.h"
#include "convert/precision/exact_values.h"
#include "convert/precision/float_values.h"
#include "convert/precision/half_options.h"
#include "ir/model.h"

namespace assay::convert {

// Reasons for nodes to stay float32: they must, the user says so, or 16 bits only cost accuracy. Nodes are asked about
// in the order of the model, once each.
class HalfRules {
 public:
  // Error (usage) for a name in the options that no node has. `floats` must outlive it.
  HalfRules(const ir::Model& model, const HalfOptions& options, const FloatModel& floats, Diagnostics& findings);

  // Takes note of what the node's results stand for; before reason_to_stay().
  void note_sources(ir::NodeId node);
  // Empty: nothing speaks against converting it.
  std::string reason_to_stay(ir::NodeId node) const;
  // True if the value leads to something that 16 bits would change.
  bool is_exact(ir::ValueId value) const { return exact_.is_exact[value.index]; }

 private:
  bool is_float(ir::ValueId value) const { return value && holds_[value.index] == Holds::float32; }
  std::string unfit_values(const ir::Node& node) const;
  bool is_cast_to_half(const ir::Node& node) const;
  bool is_quantized(const ir::Node& node) const;
  bool scatters_sums(ir::NodeId id) const;

  const ir::Model& model_;
  const ops::Resolver& callees_;
  const std::vector<Holds>& holds_;  // by value
  LayerFilter filter_;
  std::vector<bool> forced_;          // by node
  std::vector<std::string> misfits_;  // by node
  ExactValues exact_;
  std::vector<bool> quantized_;  // by value: stands for quantized numbers
};

}  // namespace assay::convert
