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
  if (store_) tensor = store_(std::move(tensor));
  return ir::add_initializer(edit_, {model_.main_graph(), fresh_name(base, suffix), std::move(tensor)});
}

// That of the operand, with the element type of the other side.
ir::TypeId LinearNodes::result_type(const LinearNode& wanted) const {
  const ir::ValueId side = wanted.quantizes ? wanted.zero_point : wanted.scale;
  const tensor::DType dtype = wanted.dtype.value_or(model_[side].constant ? model_[model_[side].constant].tensor.dtype()
                                                                          : tensor::DType::float32);
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
  if (wanted.dtype)
    attributes.push_back(ir::Attribute::of(edit_.intern("output_dtype"), static_cast<int64_t>(*wanted.dtype)));
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

ir::ValueId LinearNodes::add_node(std::string_view op, std::string_view base, std::span<const ir::ValueId> operands,
                                  std::span<const ir::Attribute> attributes, ir::NodeId before) {
  const ir::Symbol name = fresh_name(base, "");
  const std::string node_name = fmt::format("{}_{}", op, model_.text(name));
  ir::NodeSpec spec;
  spec.op = edit_.intern(op);
  spec.name = edit_.keep(node_name);
  spec.operands = operands;
  spec.results = {&name, 1};
  spec.attributes = attributes;
  return model_[edit_.add_node(model_.main_graph(), spec, before)].results[0];
}

ir::ValueId LinearNodes::add_table(const TableNodes& wanted) {
  const tensor::Shape shape = wanted.codes.shape();
  const tensor::Shape blocks = wanted.scales.shape();
  tensor::Shape parts = shape;
  parts[wanted.axis] = blocks[wanted.axis];
  parts.insert(parts.begin() + wanted.axis + 1, shape[wanted.axis] / blocks[wanted.axis]);
  tensor::Shape spread = blocks;
  spread.insert(spread.begin() + wanted.axis + 1, 1);
  const auto dims = [&](std::string_view suffix, const tensor::Shape& numbers) {
    const tensor::Shape list = {static_cast<int64_t>(numbers.size())};
    return add_constant(wanted.base, suffix, tensor::make_tensor<int64_t>(tensor::DType::int64, list, numbers));
  };
  const std::string base = std::string(wanted.base) + "_dequantized";
  const std::array cast = {add_constant(wanted.base, "_quantized", wanted.codes)};
  const std::array to = {ir::Attribute::of(edit_.intern("to"), static_cast<int64_t>(tensor::DType::int32))};
  const std::array looked = {add_constant(wanted.base, "_table", wanted.table),
                             add_node("Cast", base + "_codes", cast, to, wanted.before)};
  const std::array parted = {add_node("Gather", base + "_numbers", looked, {}, wanted.before), dims("_blocks", parts)};
  const tensor::Tensor scales(wanted.scales.dtype(), spread, wanted.scales.storage());
  const std::array scaled = {add_node("Reshape", base + "_parts", parted, {}, wanted.before),
                             add_constant(wanted.base, "_scale", scales)};
  const std::array whole = {add_node("Mul", base + "_products", scaled, {}, wanted.before), dims("_shape", shape)};
  const ir::ValueId result = add_node("Reshape", base, whole, {}, wanted.before);
  std::vector<ir::DimId> known;
  for (const int64_t dim : shape) known.push_back(model_.dims().constant(dim));
  edit_.set_type(result, model_.types().tensor(wanted.scales.dtype(), std::move(known)));
  return result;
}

ir::ValueId LinearNodes::add_product(std::string_view base, ir::ValueId value, tensor::Tensor factor,
                                     ir::NodeId before) {
  const std::array operands = {value, add_constant(base, "_factor", std::move(factor))};
  const ir::ValueId result = add_node("Mul", std::string(base) + "_scaled", operands, {}, before);
  if (model_[value].type) edit_.set_type(result, model_[value].type);
  return result;
}

void LinearNodes::drop_unused(ir::ValueId constant) { ir::drop_unused(edit_, constant); }

}  // namespace assay::convert
