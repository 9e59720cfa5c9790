#pragma once

#include <optional>

#include "debug/accuracy/walk.h"
#include "tensor/named.h"

namespace assay::debug {

// Tells what single layers do to the outputs of a model, which are computed exactly once.
class Influence {
 public:
  // Both must outlive it.
  Influence(const ir::Model& model, const std::vector<ops::InputDatum>& inputs) : model_(model), inputs_(inputs) {}

  // The greatest error of the model's outputs if nothing but what this layer introduces is wrong. Nothing: it cannot be
  // computed.
  std::optional<double> of(const Accused& accused);

 private:
  const ir::Model& model_;
  const std::vector<ops::InputDatum>& inputs_;
  std::optional<tensor::NamedData> truth_;
};

// The outputs of the model, computed exactly.
tensor::NamedData true_outputs(const ir::Model& model, const std::vector<ops::InputDatum>& inputs);
// The greatest difference between outputs of the same names; infinite if one is not a number, or of another shape.
double greatest_error(const tensor::NamedData& outputs, const tensor::NamedData& truth);

}  // namespace assay::debug
