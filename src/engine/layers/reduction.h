#pragma once

#include <optional>
#include <set>

#include "engine/layers/layer.h"

namespace assay::engine {

// A node that makes one number of those along some dims of its first operand.
struct Reduction {
  enum class Kind : uint8_t { sum, mean, square, length, maximum };  // square: the sum of squares; length: its root
  Kind kind = Kind::sum;
  std::set<size_t> axes;
};

// ReduceSum, ReduceMean, ReduceSumSquare, ReduceL2, ReduceMax and GlobalAveragePool; nullopt: another operator, or data
// decides the axes, or there are none.
std::optional<Reduction> find_reduction(const ir::Model& model, const ops::Inference& inference, ir::NodeId node,
                                        const ConstantOf& constant);

// The reduction with which a layer ends; nullopt: it ends with another operator.
std::optional<Reduction> find_reduction(const Layer& layer);
// ArgMax or ArgMin: the place of the greatest or least element along an axis.
struct PlacesForm {
  size_t axis = 0;
  bool is_maximum = false;
  bool takes_last = false;  // of equal elements
};
std::optional<PlacesForm> find_places(const Layer& layer);

// The nodes before the last one as a layer, in the order of the first operand that has as many elements.
Layer without_last(const Layer& layer);

// The extents of a reduction, in the order of memory: [outer, reduced, inner].
struct ReductionExtents {
  int64_t outer = 1, reduced = 1, inner = 1;
};

// Nullopt: the reduced dims are no neighbours, or the result lies in another order.
std::optional<ReductionExtents> reduction_extents(const TensorDesc& in, const TensorDesc& out,
                                                  const std::set<size_t>& axes);

}  // namespace assay::engine
