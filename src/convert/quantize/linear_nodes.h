#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ir/edit.h"

namespace assay::convert {

// The place of a QuantizeLinear or DequantizeLinear, and its operand.
struct LinearNode {
  bool quantizes = true;
  std::string_view base;  // names are made of it
  ir::ValueId from;
  ir::ValueId scale;
  ir::ValueId zero_point;
  std::optional<int64_t> axis = {};
  std::optional<int64_t> block_size = {};
  ir::NodeId before;  // invalid: at the end
};

// Makes nodes and constants with names that nothing else has.
class LinearNodes {
 public:
  LinearNodes(ir::Model& model, ir::Edit& edit) : model_(model), edit_(edit) {}

  // `<base><suffix>`, in the main graph.
  ir::ValueId add_constant(std::string_view base, std::string_view suffix, tensor::Tensor tensor);
  // Result `<base>_quantized` or `<base>_dequantized`.
  ir::ValueId add(const LinearNode& wanted);
  // An initializer or a Constant node that nothing uses any more; inputs stay.
  void drop_unused(ir::ValueId constant);

 private:
  ir::Symbol fresh_name(std::string_view base, std::string_view suffix);
  ir::TypeId result_type(const LinearNode& wanted) const;

  ir::Model& model_;
  ir::Edit& edit_;
};

}  // namespace assay::convert
