#pragma once

#include <memory>
#include <unordered_map>

#include "ops/inference.h"
#include "passes/pass.h"

namespace assay::passes {

// What inference finds of the values that the model had when it was first asked; a value that took the place of another
// since then is like it. Of values in functions nothing is known: each call has its own.
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
  void note_replacements();

  PassRun& run_;
  std::unique_ptr<ops::Inference> inference_;
  uint32_t known_values_ = 0;
  size_t known_steps_ = 0;
  std::unordered_map<ir::ValueId, ir::ValueId> replaced_;  // by the value that took its place
  std::unordered_map<ir::ValueId, ops::Type> constants_;
};

}  // namespace assay::passes
