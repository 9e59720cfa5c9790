#include "engine/layers/product_geometry.h"

#include <algorithm>
#include <tuple>

#include "ops/traits.h"

namespace assay::engine {
namespace {

int64_t product_of(std::span<const int64_t> dims) {
  int64_t product = 1;
  for (const int64_t dim : dims) product *= dim;
  return product;
}

bool set_gemm(const ops::Node& facts, const TensorDesc& a, const TensorDesc& b, ProductGeometry& g) {
  if (facts.floating("alpha", 1) != 1 || facts.floating("beta", 1) != 1) return false;
  const bool turns_left = facts.flag("transA");
  const bool turns_right = facts.flag("transB");
  g.rows = a.dims[turns_left ? 1 : 0];
  g.depth = a.dims[turns_left ? 0 : 1];
  g.columns = b.dims[turns_right ? 0 : 1];
  std::tie(g.left_row, g.left_column) =
      turns_left ? std::pair(a.strides[1], a.strides[0]) : std::pair(a.strides[0], a.strides[1]);
  if (g.rows == 1) g.left_row = g.depth;  // whatever a view says of a dim of one element
  std::tie(g.right_row, g.right_column) =
      turns_right ? std::pair(b.strides[1], b.strides[0]) : std::pair(b.strides[0], b.strides[1]);
  return true;
}

// Matrices by the dims before the last two, of which those of 1 and missing ones are repeated.
void set_items(const TensorDesc& a, const TensorDesc& b, ProductGeometry& g) {
  const size_t count = std::max(a.dims.size(), b.dims.size()) - 2;
  g.items.assign(count, 1);
  const auto spread = [&](const TensorDesc& desc, std::vector<int64_t>& strides) {
    strides.assign(count, 0);
    const size_t missing = count + 2 - desc.dims.size();
    for (size_t i = missing; i < count; ++i) {
      if (desc.dims[i - missing] == 1) continue;
      g.items[i] = desc.dims[i - missing];
      strides[i] = desc.strides[i - missing];
    }
  };
  spread(a, g.left_items);
  spread(b, g.right_items);
}

bool set_matmul(const TensorDesc& a, const TensorDesc& b, ProductGeometry& g) {
  const size_t rank = a.dims.size();
  if (rank < 2 || b.dims.size() < 2) return false;
  g.depth = a.dims.back();
  g.columns = b.dims.back();
  std::tie(g.left_row, g.left_column) = std::pair(a.strides[rank - 2], a.strides[rank - 1]);
  std::tie(g.right_row, g.right_column) = std::pair(b.strides[b.strides.size() - 2], b.strides.back());
  if (b.dims.size() == 2 && has_layout(a, Layout::plain)) {
    g.rows = product_of(std::span(a.dims).first(rank - 1));
    g.left_row = g.depth;
    g.left_column = 1;
    return true;
  }
  if (b.dims.size() == 2 && rank > 2) return false;  // rows of one matrix, if they lie side by side
  g.rows = a.dims[rank - 2];
  set_items(a, b, g);
  return true;
}

// Sets the matrices of a result with the dims of the layer's.
bool set_matrices(const Layer& layer, ir::NodeId node, const TensorDesc& a, const TensorDesc& b, ProductGeometry& g) {
  const TensorDesc& out = layer.outputs[0];
  for (const TensorDesc* const desc : {&a, &b, &out}) {
    if (desc->count() == 0) return false;
  }
  const bool fits = has_layout(out, Layout::plain) && layer.desc_of(layer.result(node, 0)).dims == out.dims;
  const bool is_gemm = ops::traits(*layer.model, node).has_bias;
  return fits && (is_gemm ? set_gemm(layer.facts(node), a, b, g) : set_matmul(a, b, g));
}

}  // namespace

int64_t ProductGeometry::item_count() const { return product_of(items); }

int64_t ProductGeometry::offset(int64_t item, std::span<const int64_t> strides) const {
  int64_t offset = 0;
  for (size_t i = items.size(); i-- > 0; item /= items[i]) offset += item % items[i] * strides[i];
  return offset;
}

std::optional<ProductGeometry> product_geometry(const Layer& layer, ir::NodeId node) {
  ProductGeometry g;
  const ir::ValueId bias = layer.operand(node, 2);
  g.left = layer.input_of(layer.operand(node, 0));
  g.right = layer.input_of(layer.operand(node, 1));
  g.bias = bias.valid() ? layer.input_of(bias) : -1;
  if (g.left < 0) return {};
  const TensorDesc& a = layer.inputs[static_cast<size_t>(g.left)];
  const TensorDesc b = g.right < 0 ? layer.desc_of(layer.operand(node, 1)) : layer.inputs[static_cast<size_t>(g.right)];
  const TensorDesc& out = layer.outputs[0];
  for (const TensorDesc* const desc : {&a, &b, &out}) {
    if (!is_short_float(desc->dtype) || desc->dtype != a.dtype) return {};
  }
  if (!set_matrices(layer, node, a, b, g)) return {};
  return g;
}

std::optional<ProductGeometry> codes_geometry(const Layer& layer, ir::NodeId node, int left,
                                              const tensor::Tensor& weights) {
  ProductGeometry g{.left = left, .items = {}, .left_items = {}, .right_items = {}};
  const TensorDesc right = make_desc(weights.dtype(), weights.shape());
  if (!set_matrices(layer, node, layer.inputs[static_cast<size_t>(left)], right, g)) return {};
  return g;
}

bool has_bias_row(const Layer& layer, const ProductGeometry& g) {
  const TensorDesc& desc = layer.inputs[static_cast<size_t>(g.bias)];
  return desc.dtype == layer.outputs[0].dtype && has_layout(desc, Layout::plain) && !desc.dims.empty() &&
         desc.dims.back() == g.columns && product_of(desc.dims) == g.columns;
}

}  // namespace assay::engine
