#pragma once

#include <unordered_map>

#include "passes/pass.h"

namespace assay::passes {

// Inferred facts of values, with those that the pass has made. Of values in functions nothing is known: each call has
// its own.
class Inferred {
 public:
  explicit Inferred(PassRun& run) : run_(run) {}

  tensor::DType dtype(ir::ValueId value);            // undefined if not known
  const ops::Dims* dims(ir::ValueId value);          // nullptr unless it is a tensor of known rank
  bool is_same_shape(ir::ValueId a, ir::ValueId b);  // known to be, in every dim
  // All dims as numbers, if all are.
  std::optional<tensor::Shape> shape(ir::ValueId value);

 private:
  const ops::Type* type(ir::ValueId value);
  bool is_in_function(ir::ValueId value) const;

  PassRun& run_;
  std::unordered_map<ir::ValueId, ops::Type> constants_;
};

}  // namespace assay::passes
