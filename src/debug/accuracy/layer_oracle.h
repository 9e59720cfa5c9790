#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "ops/interpreter.h"

namespace assay::debug {

using tensor::Datum;

// The value of an operand; an empty datum where there is none.
using OperandSource = std::function<Datum(ir::ValueId)>;

// Computes single layers of the main graph on given operands: exactly, that is in float64 throughout, or as declared.
class LayerOracle {
 public:
  explicit LayerOracle(const ir::Model& model, uint64_t max_memory_bytes = 0);

  std::vector<Datum> exact(ir::NodeId node, const OperandSource& operands) { return run(wide_, node, operands); }
  std::vector<Datum> declared(ir::NodeId node, const OperandSource& operands) { return run(narrow_, node, operands); }
  // The values that the bodies of a node use from outside, each once.
  std::vector<ir::ValueId> captured(ir::NodeId node) const;

 private:
  std::vector<Datum> run(ops::Interpreter& interpreter, ir::NodeId node, const OperandSource& operands) const;

  const ir::Model& model_;
  ops::Interpreter wide_;
  ops::Interpreter narrow_;
};

// A tensor whose elements are numbers.
bool is_numeric(const Datum& datum);
std::vector<double> numbers_of(const Datum& datum);
// A tensor with other elements, as float64 if it is floating.
Datum with_numbers(const Datum& datum, std::vector<double> numbers);

}  // namespace assay::debug
