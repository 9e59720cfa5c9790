#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "engine/layers/layer.h"
#include "engine/layers/spelled_norm.h"

namespace assay::engine {

// A run of nodes that matchers of written-out operators read one after the other.
class NodeRun {
 protected:
  NodeRun(const ir::Model& model, const ops::Inference& inference, std::span<const ir::NodeId> nodes,
          const ConstantOf& constant)
      : model_(model), inference_(inference), nodes_(nodes), constant_(constant) {}

  // True if the node that it has come to is this operator.
  bool is(std::string_view op) const;
  ir::ValueId operand(uint32_t index) const;
  ir::ValueId result() const { return model_[nodes_[at_]].results.front(); }
  ops::Node facts() const;
  // Without elements where the value is invalid or its sizes are not known.
  TensorDesc desc_of(ir::ValueId value) const;
  tensor::Shape dims_of(ir::ValueId value) const { return desc_of(value).dims; }
  // The number that an operand of one element always is.
  std::optional<double> number(ir::ValueId value) const;

  const ir::Model& model_;
  const ops::Inference& inference_;
  std::span<const ir::NodeId> nodes_;
  const ConstantOf& constant_;
  size_t at_ = 0;
};

}  // namespace assay::engine
