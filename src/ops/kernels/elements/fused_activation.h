#pragma once

#include <string>
#include <vector>

#include "ops/node.h"

namespace assay::ops {

// An activation that another operator applies to its result, by name and up to three parameters.
class FusedActivation {
 public:
  // Error where the name is not known; an empty one is the identity. Parameters that are left out have the defaults of
  // the operator of that name.
  FusedActivation(std::string_view name, std::vector<double> parameters);

  double operator()(double x) const;

 private:
  double parameter(size_t index, double otherwise) const {
    return index < parameters_.size() ? parameters_[index] : otherwise;
  }

  std::string name_;
  std::vector<double> parameters_;
};

double gelu(double x);
double fast_gelu(double x);  // by tanh

}  // namespace assay::ops
