#pragma once

#include <optional>
#include <vector>

#include "ir/model.h"
#include "ops/resolve.h"
#include "tensor/tensor.h"

namespace assay::convert {

// The contents of a value, as far as conversions of floats care.
enum class Holds : uint8_t {
  other,
  half,     // a tensor of the type that is converted to
  integer,  // or boolean
  float32,  // a tensor
  list,     // a sequence, an optional or a map
  unknown,
};

// Facts of the main graph and the bodies below it before they are converted; functions are left out.
struct FloatModel {
  FloatModel(const ir::Model& model, tensor::DType half);

  ops::Resolver callees;
  std::vector<Holds> holds;           // by value
  std::vector<tensor::DType> dtypes;  // by value: of tensors
  std::vector<uint64_t> counts;       // by value: elements of tensors, 0 where that is not known
  std::vector<bool> is_heavy;         // by node: sums more products than coordinates have
  std::vector<ir::NodeId> nodes;      // graph by graph, outer ones first
};

// The tensor of this type that a value always is: of an initializer, a Constant node, or an input with a default in a
// model so old (IR version 3) that every initializer is an input.
std::optional<tensor::Tensor> float_constant(const ir::Model& model, ir::ValueId value,
                                             tensor::DType dtype = tensor::DType::float32);

}  // namespace assay::convert
