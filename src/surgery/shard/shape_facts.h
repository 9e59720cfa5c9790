#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ops/inference.h"
#include "ops/traits.h"

namespace assay::surgery {

// Facts of shapes before a model is split. Dims are counted from the end: 1 is the last one.
class ShapeFacts {
 public:
  // Facts from the inference of the model, both of which must outlive this.
  ShapeFacts(const ir::Model& model, const ops::Inference& inference) : model_(model), inference_(inference) {}

  const ir::Model& model() const { return model_; }
  std::optional<int64_t> rank(ir::ValueId value) const;
  std::optional<int64_t> dim(ir::ValueId value, int64_t from_end) const;  // if it is a number
  ops::Dims dims(ir::ValueId value) const;                                // from the first; none if unknown
  // True if both are known to have the same dim there, as a number or as a formula.
  bool is_same_dim(ir::ValueId a, ir::ValueId b, int64_t from_end) const;
  // The last dim, also after attention plugins, whose results have no declared types.
  std::optional<int64_t> width(ir::ValueId value) const;
  // The Concat that joins Q, K and V of an attention plugin; invalid: they are separate.
  ir::NodeId find_stack(ir::NodeId node) const;
  // An axis of the node's first operand, counted from the end, from 1 on. Error (unsupported) if it is unknown.
  int64_t axis_from_end(ir::NodeId node, int64_t axis) const;
  // The elements of a small integer tensor, those that are known.
  std::optional<std::vector<std::optional<int64_t>>> elements(ir::ValueId value) const;
  // The single number of a value that is the same in every run, also if a few operators compute it from shapes.
  std::optional<double> number(ir::ValueId value, int most_steps = 12) const;
  // An initializer or the result of a Constant, with readable elements; nullptr for others.
  const tensor::Tensor* constant(ir::ValueId value) const;
  // A constant, also through DequantizeLinear, Transpose, Cast and Identity.
  bool is_weight(ir::ValueId value) const;

  // Operators of ONNX have the domain ``; a node that calls a function of the model has no operator.
  std::string_view op(ir::NodeId node) const;
  std::string_view domain(ir::NodeId node) const;
  const ops::Traits& traits(ir::NodeId node) const;
  ops::Node attributes(ir::NodeId node) const;
  // The value that another is cast from, or the other itself.
  ir::ValueId before_cast(ir::ValueId value) const;
  // The uses of a value that cast it to an output of the graph.
  std::vector<ir::Use> casts_to_outputs(ir::ValueId value) const;
  // Omitted operands are invalid.
  ir::ValueId operand(ir::NodeId node, uint32_t index) const;

 private:
  bool is_seen_through(ir::NodeId node) const;
  std::optional<double> computed_number(ir::NodeId node, int most_steps) const;

  const ir::Model& model_;
  const ops::Inference& inference_;
};

}  // namespace assay::surgery
