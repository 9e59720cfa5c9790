#include "engine/layers/selected_product.h"

#include "engine/layers/indexed_rows.h"
#include "ops/traits.h"

namespace assay::engine {
namespace {

constexpr size_t kMatrices = 3;  // dims of some

}  // namespace

std::optional<SelectedProduct> match_selected(const ir::Model& model, const ops::Inference& inference,
                                              ir::NodeId gather, ir::NodeId product, const ConstantOf& constant) {
  SelectedProduct found;
  found.places = find_slab_places(model, inference, gather);
  const ir::Node& multiplying = model[product];
  const ops::Traits& traits = ops::traits(model, product);
  const bool is_product = traits.product == ops::ProductKind::matrices && !traits.has_bias;
  if (!found.places.valid() || !is_product || !model.text(multiplying.domain).empty()) return {};
  found.matrices = constant(model[gather].operands[0].value);
  if (found.matrices == nullptr || found.matrices->dtype() != tensor::DType::float32) return {};
  const tensor::Shape& shape = found.matrices->shape();
  const ir::ValueId gathered = model[gather].results[0];
  const bool is_right = multiplying.operands[1].value == gathered;
  found.data = multiplying.operands[is_right ? 0 : 1].value;
  if (shape.size() != kMatrices || found.data == gathered || (!is_right && multiplying.operands[0].value != gathered))
    return {};
  const std::optional<TensorDesc> data = find_desc(model, inference, found.data);
  const std::optional<TensorDesc> result = find_desc(model, inference, multiplying.results[0]);
  if (!data || !result || data->dims.size() != kMatrices || data->dtype != tensor::DType::float32) return {};
  found.count = shape[0];
  found.items = result->dims[0];
  found.has_shared_rows = data->dims[0] == 1;
  found.rows = is_right ? data->dims[1] : data->dims[2];
  found.depth = is_right ? shape[1] : shape[2];
  found.columns = is_right ? shape[2] : shape[1];
  found.matrix = shape[1] * shape[2];
  found.depth_stride = is_right ? shape[2] : 1;
  found.column_stride = is_right ? 1 : shape[2];
  const bool lies_by_rows = is_right || found.rows == 1;
  return lies_by_rows && found.matrix > 0 && found.count > 0 && result->count() > 0 ? std::optional(found)
                                                                                    : std::nullopt;
}

std::optional<SelectedProduct> find_selected(const Layer& layer) {
  if (layer.nodes.size() != 2) return std::nullopt;
  return match_selected(*layer.model, *layer.inference, layer.nodes[0], layer.nodes[1], layer.constants_by_value());
}

}  // namespace assay::engine
