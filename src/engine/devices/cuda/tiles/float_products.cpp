#include "engine/devices/cuda/tiles/float_products.h"

#include "engine/devices/cuda/generate/followed.h"
#include "engine/layers/form.h"

namespace assay::engine::cuda {

std::optional<Tiled::Found> Matrices::find(const Layer& layer, bool packs) const {
  const auto* const form = form_as<ProductForm>(layer);
  if (form == nullptr || form->is_integer()) return std::nullopt;
  const std::optional<ProductGeometry> g = product_geometry(layer, *form);
  if (!g || g->right < 0) return std::nullopt;
  const TensorDesc& left = layer.inputs[static_cast<size_t>(g->left)];
  if (!is_short_float(left.dtype) || left.dtype != layer.inputs[static_cast<size_t>(g->right)].dtype) return {};
  Bias bias{.input = g->bias};
  if (g->bias >= 0) bias.desc = layer.inputs[static_cast<size_t>(g->bias)];
  std::optional<ElementSite> site = followed_site(layer, form->done, bias);
  if (!site) return std::nullopt;
  TileProduct product{
      .type = left.dtype,
      .rows = g->rows,
      .columns = g->columns,
      .depth = g->depth,
      .items = g->items,
      .left = {input_pointer(static_cast<size_t>(g->left)), g->left_row, g->left_column, g->left_items},
      .right = {input_pointer(static_cast<size_t>(g->right)), g->right_column, g->right_row, g->right_items}};
  if (form->weights != nullptr && g->item_count() == 1) set_right(layer, *form->weights, *g, packs, product);
  return Found{std::move(product), std::move(*site)};
}

std::optional<Tiled::Found> Windows::find(const Layer& layer, bool packs) const {
  const auto* const form = form_as<ConvolutionForm>(layer);
  if (form == nullptr || form->is_integer()) return std::nullopt;
  const TensorDesc& data = layer.inputs[static_cast<size_t>(form->data)];
  if (!is_short_float(data.dtype) || form->weights->dtype() != data.dtype) return std::nullopt;
  std::optional<ElementSite> site = followed_site(layer, form->done, channel_bias(layer, *form));
  std::optional<TileProduct> product = site ? window_product(layer, *form, packs) : std::nullopt;
  if (!product) return std::nullopt;
  return Found{std::move(*product), std::move(*site)};
}

}  // namespace assay::engine::cuda
