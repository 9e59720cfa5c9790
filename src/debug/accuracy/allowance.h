#pragma once

#include <memory>

#include "debug/accuracy/layer_oracle.h"

namespace assay::debug {

// How far each element of a value may be off for innocent reasons.
using Allowances = std::shared_ptr<const std::vector<double>>;

// What one layer may add to an error: the rounding of its type, and of sums by their length, on the operands that it
// was given; and what its operands may be off where nobody has seen them.
class AllowanceMaker {
 public:
  // `least_unit`: of a type that the side is permitted to compute in; 0: it keeps to the declared ones.
  AllowanceMaker(const ir::Model& model, LayerOracle& oracle, double least_unit);

  // At least what is allowed for results like these, whatever the node: nearly all layers stay within.
  std::vector<Allowances> least(const std::vector<Datum>& exact) const;
  // For each result of the node; null for what is no tensor of numbers. `exact` are the results on these operands.
  // `doubts` gives what an operand itself may be off: null for one that was seen.
  std::vector<Allowances> make(ir::NodeId node, const OperandSource& operands, const std::vector<Datum>& exact,
                               const std::function<Allowances(ir::ValueId)>& doubts);

 private:
  bool is_sum_of_products(ir::NodeId node) const;
  double length_of_sums(ir::NodeId node, const OperandSource& operands, const std::vector<Datum>& exact) const;
  std::vector<Datum> magnitudes(ir::NodeId node, const OperandSource& operands);
  Datum moved(const Datum& datum, const Allowances& doubt, double units, uint64_t salt) const;
  double unit_of(const Datum& datum) const;
  void add_spread(ir::NodeId node, const OperandSource& operands, const std::vector<Datum>& exact,
                  const std::function<Allowances(ir::ValueId)>& doubts, std::vector<std::vector<double>>& made);

  const ir::Model& model_;
  LayerOracle& oracle_;
  double least_unit_;
};

// Half the distance from 1 to the next number of the type: 2^-24 of float32; 0 for integers.
double unit_roundoff(tensor::DType dtype);
double root_mean_square(std::span<const double> numbers);

}  // namespace assay::debug
