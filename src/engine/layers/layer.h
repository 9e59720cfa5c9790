#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/layers/tensor_desc.h"
#include "ops/inference.h"
#include "ops/node.h"

namespace assay::engine {

struct Form;
class PackedWeights;

// The tensor that a value always is; null: none.
using ConstantOf = std::function<const tensor::Tensor*(ir::ValueId value)>;

// One node of the lowered graph with all that an implementation needs to know: an operator of the model, or the call of
// a function that lowering made of several.
struct Layer {
  const ir::Model* model = nullptr;
  const ops::Inference* inference = nullptr;
  ir::NodeId node;
  std::vector<ir::NodeId> nodes;           // the computed nodes in order: the node itself, or those of the function
  std::vector<ir::ValueId> input_values;   // the inputs that `nodes` see
  std::vector<ir::ValueId> output_values;  // the outputs that `nodes` see
  std::vector<TensorDesc> inputs;
  std::vector<TensorDesc> outputs;
  std::vector<const tensor::Tensor*> constants;        // by input; null: computed
  PackedWeights* packed = nullptr;                     // keeps constants in the forms that kernels want
  bool is_strict = false;                              // nothing but the order of sums may change bits
  bool permits_tf32 = false;                           // a device may multiply float32 in fewer bits
  mutable std::shared_ptr<const Form> form = nullptr;  // null: form_of() has not been called

  // True if all operands and results lie in the order of their dims.
  bool lies_plainly() const;
  bool is_single() const { return nodes.size() == 1; }
  std::string_view op(ir::NodeId id) const { return model->text((*model)[id].op); }
  // True if its first node is this operator of ai.onnx.
  bool starts_with(std::string_view op) const;
  ops::Node facts(ir::NodeId id) const;
  // The operand of one of `nodes`; invalid: left out.
  ir::ValueId operand(ir::NodeId id, uint32_t index) const;
  ir::ValueId result(ir::NodeId id, uint32_t index) const;
  // The index of the layer's input that a value is; -1: the value is computed inside.
  int input_of(ir::ValueId value) const;
  // The tensor that a value inside always is; null: it is computed.
  const tensor::Tensor* constant(ir::ValueId value) const;
  ConstantOf constants_by_value() const {
    return [this](ir::ValueId value) { return constant(value); };
  }
  // In the order of the model's dims.
  TensorDesc desc_of(ir::ValueId value) const;
};

ops::Node node_facts(const ir::Model& model, const ops::Inference& inference, ir::NodeId node);

// The tensor that a value always is; null: it is computed.
const tensor::Tensor* constant_of(const ir::Model& model, const ops::Inference& inference, ir::ValueId value);

// In the order of the model's dims; nullopt: no tensor of known shape and of whole bytes.
std::optional<TensorDesc> find_desc(const ir::Model& model, const ops::Inference& inference, ir::ValueId value);

// The only node of the main graph that uses a value; invalid: several do or none, a body does, or it is an output.
ir::NodeId only_user(const ir::Model& model, ir::ValueId value);

// The name by which tactics are saved: that of its first result, which does not move when other layers change.
std::string_view layer_name(const ir::Model& model, ir::NodeId node);

// The computation of a layer, spelled without names and values: equal layers are equal to measure.
std::string layer_key(const Layer& layer);

// The layer that a node of the main graph is; nullopt: it has operands or results that are no tensors of known shape.
std::optional<Layer> find_layer(const ir::Model& model, const ops::Inference& inference, ir::NodeId node);

}  // namespace assay::engine
