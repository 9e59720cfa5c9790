#include "convert/quantize/linear_nodes.h"

#include <array>
#include <vector>

#include <fmt/format.h>

#include "ir/constants.h"
#include "ir/naming.h"

namespace assay::convert {

ir::Symbol LinearNodes::fresh_name(std::string_view base, std::string_view suffix) {
  return ir::fresh_name(edit_, fmt::format("{}{}", base, suffix));
}

ir::ValueId LinearNodes::add_constant(std::string_view base, std::string_view suffix, tensor::Tensor tensor) {
  return ir::add_initializer(edit_, {model_.main_graph(), fresh_name(base, suffix), std::move(tensor)});
}

// That of the operand, with the element type of the other side.
ir::TypeId LinearNodes::result_type(const LinearNode& wanted) const {
  const ir::ValueId side = wanted.quantizes ? wanted.zero_point : wanted.scale;
  const tensor::DType dtype = model_[model_[side].constant].tensor.dtype();
  const ir::Value& from = model_[wanted.from];
  if (from.type) {
    ir::Type type = model_[from.type];
    type.dtype = dtype;
    return model_.types().intern(std::move(type));
  }
  if (from.kind != ir::ValueKind::initializer) return {};
  std::vector<ir::DimId> dims;
  for (const int64_t dim : model_[from.constant].tensor.shape()) dims.push_back(model_.dims().constant(dim));
  return model_.types().tensor(dtype, std::move(dims));
}

ir::ValueId LinearNodes::add(const LinearNode& wanted) {
  const std::string_view op = wanted.quantizes ? "QuantizeLinear" : "DequantizeLinear";
  const ir::Symbol name = fresh_name(wanted.base, wanted.quantizes ? "_quantized" : "_dequantized");
  const std::string node_name = fmt::format("{}_{}", op, model_.text(name));
  const std::array operands = {wanted.from, wanted.scale, wanted.zero_point};
  std::vector<ir::Attribute> attributes;
  if (wanted.axis) attributes.push_back(ir::Attribute::of(edit_.intern("axis"), *wanted.axis));
  if (wanted.block_size) attributes.push_back(ir::Attribute::of(edit_.intern("block_size"), *wanted.block_size));
  ir::NodeSpec spec;
  spec.op = edit_.intern(op);
  spec.name = edit_.keep(node_name);
  spec.operands = std::span(operands).first(wanted.zero_point ? 3 : 2);
  spec.results = {&name, 1};
  spec.attributes = attributes;
  const ir::NodeId node = edit_.add_node(model_.main_graph(), spec, wanted.before);
  const ir::ValueId result = model_[node].results[0];
  if (const ir::TypeId type = result_type(wanted)) edit_.set_type(result, type);
  return result;
}

void LinearNodes::drop_unused(ir::ValueId constant) { ir::drop_unused(edit_, constant); }

}  // namespace assay::convert
