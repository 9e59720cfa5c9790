#pragma once

#include <optional>
#include <vector>

#include "engine/layers/element_op.h"
#include "engine/layers/layer.h"

namespace assay::engine {

// The elementwise nodes of a layer as steps from register to register.
struct Chain {
  struct Step {
    ElementOp op = ElementOp::copy;
    int a = 0;  // registers
    int b = 0;
    int c = 0;
    int out = 0;
    float p = 0;
    float q = 0;
    tensor::DType dtype = tensor::DType::float32;  // of the value that it computes

    bool makes_codes() const { return op == ElementOp::quantize_signed || op == ElementOp::quantize_unsigned; }
  };

  // By register from 1 on: the layer's input that it holds; -1: the result of a step. Register 0 holds what is given.
  std::vector<int> inputs;
  std::vector<Step> steps;
  tensor::DType given_type = tensor::DType::float32;
  int result = 0;

  // The layer's input that a register holds; -1: it is given, or the result of a step.
  int input_of(int reg) const { return reg == 0 ? -1 : inputs[static_cast<size_t>(reg) - 1]; }
  // The number of operands that are this register.
  int64_t uses(int reg) const;
  // Gives what the first step computes.
  void drop_first();
};

// The chain of layer.nodes from `first` on. `given` is computed by whoever computes the chain, at the place of the
// result; invalid: everything comes from the layer's inputs. Nullopt: a node is not elementwise, or its result has
// other dims than the layer's.
std::optional<Chain> find_chain(const Layer& layer, size_t first, ir::ValueId given);

}  // namespace assay::engine
