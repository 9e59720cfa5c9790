#pragma once

#include <optional>
#include <set>
#include <span>
#include <string_view>

#include "engine/layers/layer.h"

namespace assay::engine {

// A view of a model that matchers of written-out operators read.
class GraphReader {
 protected:
  GraphReader(const ir::Model& model, const ops::Inference& inference, const ConstantOf& constant)
      : model_(model), inference_(inference), constant_(constant) {}

  // True if a node is this operator, and a known version of it.
  bool is(ir::NodeId node, std::string_view op, std::string_view domain = "") const;
  // The node that makes a value for one use of a node of the same graph; invalid: there are others.
  ir::NodeId sole_maker(ir::ValueId value) const;
  ir::ValueId operand(ir::NodeId node, uint32_t index) const;
  ir::ValueId result(ir::NodeId node) const { return model_[node].results.front(); }
  // The operand beside that one; invalid: it is no operand.
  ir::ValueId other(ir::NodeId node, ir::ValueId value) const;
  ops::Node facts(ir::NodeId node) const { return node_facts(model_, inference_, node); }
  // Without elements where the value is invalid or its sizes are not known.
  TensorDesc desc_of(ir::ValueId value) const;
  tensor::Shape dims_of(ir::ValueId value) const { return desc_of(value).dims; }
  // Null: the value is invalid or computed.
  const tensor::Tensor* constant(ir::ValueId value) const { return value.valid() ? constant_(value) : nullptr; }
  // The number that a value of one element always is.
  std::optional<double> number(ir::ValueId value) const;
  // True if only these nodes use what they give, but for the last one's result.
  bool are_used_inside(const std::set<ir::NodeId>& nodes, ir::NodeId last) const;

  const ir::Model& model_;
  const ops::Inference& inference_;
  const ConstantOf& constant_;
};

// A run of nodes that is read one after the other.
class NodeRun : protected GraphReader {
 protected:
  NodeRun(const ir::Model& model, const ops::Inference& inference, std::span<const ir::NodeId> nodes,
          const ConstantOf& constant)
      : GraphReader(model, inference, constant), nodes_(nodes) {}

  // True if the node that it has come to is this operator.
  bool is(std::string_view op) const { return at_ < nodes_.size() && GraphReader::is(nodes_[at_], op); }
  ir::ValueId operand(uint32_t index) const { return GraphReader::operand(nodes_[at_], index); }
  ir::ValueId result() const { return GraphReader::result(nodes_[at_]); }
  ops::Node facts() const { return GraphReader::facts(nodes_[at_]); }

  std::span<const ir::NodeId> nodes_;
  size_t at_ = 0;
};

}  // namespace assay::engine
