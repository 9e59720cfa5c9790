#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "convert/quantize/store_constant.h"
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
  ir::NodeId before;                        // invalid: at the end
  std::optional<tensor::DType> dtype = {};  // of the result, where the scale does not say it
};

// A weight whose codes stand for the numbers of a table.
struct TableNodes {
  std::string_view base;
  tensor::Tensor codes;   // uint4, in the weight's shape
  tensor::Tensor table;   // 16 numbers
  tensor::Tensor scales;  // of the weight's shape, with blocks along the axis
  uint32_t axis = 0;
  ir::NodeId before;
};

// Makes nodes and constants with names that nothing else has.
class LinearNodes {
 public:
  LinearNodes(ir::Model& model, ir::Edit& edit, StoreConstant store = {})
      : model_(model), edit_(edit), store_(std::move(store)) {}

  // `<base><suffix>`, in the main graph.
  ir::ValueId add_constant(std::string_view base, std::string_view suffix, tensor::Tensor tensor);
  // Result `<base>_quantized` or `<base>_dequantized`.
  ir::ValueId add(const LinearNode& wanted);
  // Numbers of a table by their codes, four bits each, times a scale for so many in a row along the axis: result
  // `<base>_dequantized`.
  ir::ValueId add_table(const TableNodes& wanted);
  // A value times a constant, before a node: result `<base>_scaled`.
  ir::ValueId add_product(std::string_view base, ir::ValueId value, tensor::Tensor factor, ir::NodeId before);
  // An initializer or a Constant node that nothing uses any more; inputs stay.
  void drop_unused(ir::ValueId constant);

 private:
  ir::ValueId add_node(std::string_view op, std::string_view base, std::span<const ir::ValueId> operands,
                       std::span<const ir::Attribute> attributes, ir::NodeId before);
  ir::Symbol fresh_name(std::string_view base, std::string_view suffix);
  ir::TypeId result_type(const LinearNode& wanted) const;

  ir::Model& model_;
  ir::Edit& edit_;
  StoreConstant store_;
};

}  // namespace assay::convert
