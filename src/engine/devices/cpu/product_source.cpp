#include "engine/devices/cpu/product_source.h"

#include <algorithm>

#include "tensor/elements.h"

namespace assay::engine::cpu {
namespace {

// True if one of the strides of a matrix is 1, as libraries want it.
bool is_matrix(int64_t rows, int64_t columns, int64_t row, int64_t column) {
  return (column == 1 && (row >= columns || rows == 1)) || (row == 1 && (column >= rows || columns == 1));
}

bool are_matrices(const ProductGeometry& g) {
  return is_matrix(g.rows, g.depth, g.left_row, g.left_column) &&
         is_matrix(g.depth, g.columns, g.right_row, g.right_column);
}

std::optional<ProductSource> float_source(const Layer& layer) {
  const std::optional<ProductGeometry> geometry = product_geometry(layer, layer.nodes[0]);
  if (!geometry || geometry->right < 0 || !are_matrices(*geometry)) return std::nullopt;
  // Weights of several items are read like computed ones.
  const bool is_one = geometry->item_count() == 1;
  const tensor::Tensor* const weights = is_one ? layer.constants[static_cast<size_t>(geometry->right)] : nullptr;
  if (geometry->bias >= 0 && !has_bias_row(layer, *geometry)) return std::nullopt;
  return ProductSource{
      .geometry = *geometry, .left_type = layer.outputs[0].dtype, .weights = weights, .done = 1, .quantized = {}};
}

// The constants that the next node adds to each row, if it does; empty: it does something else.
std::vector<float> added_row(const Layer& layer, size_t done, int64_t columns) {
  if (layer.nodes.size() <= done || layer.op(layer.nodes[done]) != "Add") return {};
  const ir::ValueId product = layer.result(layer.nodes[done - 1], 0);
  const ir::ValueId first = layer.operand(layer.nodes[done], 0);
  const tensor::Tensor* const row = layer.constant(first == product ? layer.operand(layer.nodes[done], 1) : first);
  if (row == nullptr || row->shape().empty() || row->shape().back() != columns) return {};
  if (row->count() != static_cast<uint64_t>(columns)) return {};
  const std::vector<double> numbers = tensor::load_elements<double>(*row);
  return {numbers.begin(), numbers.end()};
}

std::optional<ProductSource> integer_source(const Layer& layer) {
  const auto product = std::ranges::find_if(
      layer.nodes, [&](ir::NodeId node) { return layer.op(node) == "MatMul" || layer.op(node) == "Gemm"; });
  if (product == layer.nodes.end()) return std::nullopt;
  const auto done = static_cast<size_t>(product - layer.nodes.begin()) + 1;
  std::optional<QuantizedProduct> found =
      match_quantized(*layer.model, *layer.inference, std::span(layer.nodes).first(done),
                      [&](ir::ValueId value) { return layer.constant(value); });
  if (!found) return std::nullopt;
  const std::optional<ProductGeometry> geometry = product_geometry(layer, *found);
  if (!geometry || !are_matrices(*geometry) || geometry->left_column != 1) return std::nullopt;
  const bool has_bias = !found->bias.empty();
  if (!has_bias) found->bias = added_row(layer, done, geometry->columns);
  ProductSource source;
  source.geometry = *geometry;
  source.geometry.right = -1;
  source.left_type = found->quantizer.codes;
  source.weights = found->weights;
  source.done = has_bias || found->bias.empty() ? done : done + 1;
  if (layer.op(*product) == "Gemm" && layer.facts(*product).flag("transB")) source.column_axis = 0;
  source.weight_zeros = found->zeros;
  source.quantized = std::move(found);
  return source;
}

// MatMulInteger, and the Cast of its sums where there is one.
std::optional<ProductSource> sums_source(const Layer& layer) {
  const ir::NodeId node = layer.nodes[0];
  const ConstantOf constant = [&](ir::ValueId value) { return layer.constant(value); };
  const std::optional<IntegerSums> sums = match_sums(*layer.model, *layer.inference, layer.nodes, constant);
  if (!sums || layer.outputs.size() != 1) return std::nullopt;
  const QuantizedProduct product{.product = node, .data = sums->data, .weights = sums->weights};
  const std::optional<ProductGeometry> geometry = product_geometry(layer, product);
  if (!geometry || !are_matrices(*geometry) || geometry->left_column != 1) return std::nullopt;
  ProductSource source;
  source.geometry = *geometry;
  source.geometry.right = -1;
  source.left_type = layer.inputs[static_cast<size_t>(geometry->left)].dtype;
  source.weights = sums->weights;
  source.done = sums->become_floats ? 2 : 1;
  source.weight_zeros = sums->zeros;
  source.is_sum = true;
  if (!sums->zero.valid()) return source;
  source.zero = layer.input_of(sums->zero);
  const std::vector<int64_t> columns = sums_of_channels(*sums->weights, 1);
  source.column_sums.assign(columns.begin(), columns.end());
  return source;
}

}  // namespace

std::optional<ProductSource> find_product_source(const Layer& layer) {
  if (layer.starts_with("MatMulInteger")) return sums_source(layer);
  std::optional<ProductSource> source = float_source(layer);
  return source ? source : integer_source(layer);
}

}  // namespace assay::engine::cpu
