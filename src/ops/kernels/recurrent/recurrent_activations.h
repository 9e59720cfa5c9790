#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "ops/node.h"

namespace assay::ops {

// One of the functions that recurrent operators may be given by name.
class RecurrentActivation {
 public:
  double operator()(double x) const { return fn_(x, alpha_, beta_); }

 private:
  friend std::vector<RecurrentActivation> read_recurrent_activations(const Node& node, size_t count,
                                                                     std::span<const std::string_view> defaults);
  double (*fn_)(double x, double alpha, double beta) = nullptr;
  double alpha_ = 0;
  double beta_ = 0;
};

// The attribute `activations`, or `defaults` again and again. Entries of activation_alpha and activation_beta go, in
// order, to the functions that take one. Error for unknown names and for fewer than `count`.
std::vector<RecurrentActivation> read_recurrent_activations(const Node& node, size_t count,
                                                            std::span<const std::string_view> defaults);

}  // namespace assay::ops
