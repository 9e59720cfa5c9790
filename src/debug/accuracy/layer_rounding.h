#pragma once

#include <algorithm>
#include <optional>

#include "analysis/node_runs.h"
#include "debug/accuracy/distances.h"
#include "debug/accuracy/layer_oracle.h"

namespace assay::debug {

// The error that one layer may add by the rounding of its operator (analysis/rounding.h), on the operands that it was
// given.
class LayerRounding {
 public:
  // `least_roundoff`: of a type that the side is permitted to compute in; 0: it keeps to the declared ones.
  LayerRounding(const ir::Model& model, uint64_t max_memory_bytes, double least_roundoff);

  // A bound that nearly all results stay within, never more than what is allowed: no run is needed for it.
  RoughAllowance roughly(ir::NodeId node, const OperandSource& operands, const std::vector<Datum>& exact) const;

  // The allowance that moved roundings would give the result, without running them: the squares of sums of products say
  // how far it would go. Returns nullopt for other operators.
  std::optional<compare::Allowance> of_products(ir::NodeId node, const OperandSource& operands, const Datum& exact,
                                                LayerOracle& oracle) const;

  // The deviations behind of_products: how far from the exact result each element is in such runs, in the mean of
  // squares.
  std::vector<float> deviations_of_products(ir::NodeId node, const OperandSource& operands, const Datum& exact,
                                            LayerOracle& oracle) const;
  // Runs with such deviations. Of the first two, if these are all, only the signs are drawn.
  static analysis::Samples drawn(ir::NodeId node, const Datum& exact, std::span<const float> deviations, uint32_t runs);

  // An operand in runs, of what the side gave: the same in each, but for halves that nodes made, which may have been
  // rounded only to be shown.
  analysis::Samples shown(ir::ValueId value, Datum datum, uint32_t runs = analysis::kMovedRuns) const;
  using SamplesSource = std::function<analysis::Samples(ir::ValueId)>;
  // The results in all runs, with the node's rounding moved at random; `captured` are values that its bodies use.
  std::vector<analysis::Samples> run(ir::NodeId node, const SamplesSource& operands,
                                     const std::vector<ir::ValueId>& captured);
  // The results in the first runs (analysis::NodeRuns::run_first).
  std::optional<analysis::FirstRuns> run_first(ir::NodeId node, const SamplesSource& operands,
                                               const std::vector<Datum>& exact, uint32_t runs);
  double roundoff(tensor::DType type) const { return std::max(analysis::roundoff(type), least_roundoff_); }
  compare::Allowance allowance_of(const analysis::Samples& samples) const {
    return analysis::allowance_of(samples, least_roundoff_);
  }

 private:
  std::optional<std::vector<double>> product_squares(ir::NodeId node, const OperandSource& operands, const Datum& exact,
                                                     LayerOracle& oracle) const;
  bool may_be_wider(ir::ValueId value, const Datum& datum) const;

  const ir::Model& model_;
  double least_roundoff_;
  analysis::NodeRuns runs_;
};

}  // namespace assay::debug
