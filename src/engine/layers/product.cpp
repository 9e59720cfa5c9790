#include "engine/layers/product.h"

#include <algorithm>

#include "tensor/elements.h"

namespace assay::engine {
namespace {

// The constants that the next node adds to each row; empty: it does something else.
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

bool is_matrix_product(const Layer& layer, ir::NodeId node) {
  return (layer.op(node) == "MatMul" || layer.op(node) == "Gemm") &&
         layer.model->text((*layer.model)[node].domain).empty();
}

std::optional<ProductForm> find_floats(const Layer& layer) {
  const ir::NodeId node = layer.nodes[0];
  if (!is_matrix_product(layer, node)) return std::nullopt;
  const int left = layer.input_of(layer.operand(node, 0));
  const int right = layer.input_of(layer.operand(node, 1));
  if (left < 0 || right < 0 || layer.outputs.size() != 1) return std::nullopt;
  ProductForm form{.node = node, .left = left, .left_type = layer.outputs[0].dtype, .quantized = {}};
  form.weights = layer.constants[static_cast<size_t>(right)];
  return form;
}

std::optional<ProductForm> find_codes(const Layer& layer) {
  const auto product =
      std::ranges::find_if(layer.nodes, [&](ir::NodeId node) { return is_matrix_product(layer, node); });
  if (product == layer.nodes.end()) return std::nullopt;
  const auto done = static_cast<size_t>(product - layer.nodes.begin()) + 1;
  std::optional<QuantizedProduct> found =
      match_quantized(*layer.model, *layer.inference, std::span(layer.nodes).first(done), layer.constants_by_value());
  if (!found) return std::nullopt;
  const bool turns_weights = layer.op(*product) == "Gemm" && layer.facts(*product).flag("transB");
  const bool has_bias = !found->bias.empty();
  const tensor::Shape& shape = found->weights->shape();
  // Beside float8, rows have the 16 bits of results.
  if (!has_bias && !found->is_of_float8())
    found->bias = added_row(layer, done, turns_weights ? shape.front() : shape.back());
  const int data = layer.input_of(found->data);
  if (data < 0 || layer.outputs.size() != 1) return std::nullopt;
  ProductForm form{.node = *product, .left = data, .left_type = found->quantizer.codes, .quantized = {}};
  form.weights = found->weights;
  form.done = has_bias || found->bias.empty() ? done : done + 1;
  if (turns_weights) form.column_axis = 0;
  form.weight_zeros = found->zeros;
  form.quantized = std::move(found);
  return form;
}

// MatMulInteger, and the Cast of its sums where there is one.
std::optional<ProductForm> find_sums(const Layer& layer) {
  const ConstantOf constant = layer.constants_by_value();
  const std::optional<IntegerSums> sums = match_sums(*layer.model, *layer.inference, layer.nodes, constant);
  const int data = sums ? layer.input_of(sums->data) : -1;
  if (data < 0 || layer.outputs.size() != 1) return std::nullopt;
  ProductForm form{.node = layer.nodes[0], .left = data, .quantized = {}};
  form.left_type = layer.inputs[static_cast<size_t>(data)].dtype;
  form.weights = sums->weights;
  form.done = sums->become_floats ? 2 : 1;
  form.weight_zeros = sums->zeros;
  form.is_sum = true;
  if (!sums->zero.valid()) return form;
  form.zero = layer.input_of(sums->zero);
  const std::vector<int64_t> columns = sums_of_channels(*sums->weights, 1);
  form.column_sums.assign(columns.begin(), columns.end());
  return form;
}

// True if one of the strides of a matrix is 1, as libraries want it.
bool is_matrix(int64_t rows, int64_t columns, int64_t row, int64_t column) {
  return (column == 1 && (row >= columns || rows == 1)) || (row == 1 && (column >= rows || columns == 1));
}

bool are_matrices(const ProductGeometry& g) {
  return is_matrix(g.rows, g.depth, g.left_row, g.left_column) &&
         is_matrix(g.depth, g.columns, g.right_row, g.right_column);
}

}  // namespace

std::optional<ProductForm> find_product(const Layer& layer) {
  if (layer.starts_with("MatMulInteger")) return find_sums(layer);
  std::optional<ProductForm> floats = find_floats(layer);
  return floats ? floats : find_codes(layer);
}

std::optional<ProductGeometry> product_geometry(const Layer& layer, const ProductForm& form) {
  return form.is_integer() ? codes_geometry(layer, form.node, form.left, *form.weights)
                           : product_geometry(layer, form.node);
}

std::optional<LocatedProduct> locate(const Layer& layer, const ProductForm& form) {
  std::optional<ProductGeometry> g = product_geometry(layer, form);
  if (!g || !are_matrices(*g)) return std::nullopt;
  if (!form.is_integer()) {
    if (g->bias >= 0 && !has_bias_row(layer, *g)) return std::nullopt;
    const bool is_one = g->item_count() == 1;
    return LocatedProduct{form, std::move(*g), is_one ? form.weights : nullptr};
  }
  if (g->left_column != 1) return std::nullopt;
  g->right = -1;
  return LocatedProduct{form, std::move(*g), form.weights};
}

}  // namespace assay::engine
