#pragma once

#include <optional>
#include <set>

#include "engine/layers/layer.h"
#include "engine/layers/spelled_norm.h"

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

}  // namespace assay::engine
