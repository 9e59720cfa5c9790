#include "engine/devices/cuda/tiles/compressed_layer.h"

#include "engine/devices/cuda/generate/followed.h"
#include "engine/layers/form.h"

namespace assay::engine::cuda {

std::optional<CompressedLayer> find_layer_of_codes(const Layer& layer) {
  const auto* const form = form_as<CompressedForm>(layer);
  if (form == nullptr || layer.outputs.size() != 1) return std::nullopt;
  const CompressedProduct& product = form->product;
  const ir::ValueId result = layer.result(layer.nodes[form->done - 1], 0);
  const int data = layer.input_of(product.data);
  if (data < 0 || layer.desc_of(result).dims != layer.outputs[0].dims) return std::nullopt;
  const TensorDesc& left = layer.inputs[static_cast<size_t>(data)];
  const bool lies_plainly = has_layout(left, Layout::plain) && has_layout(layer.outputs[0], Layout::plain);
  if (left.dtype != product.dtype || !lies_plainly) return std::nullopt;
  Bias bias{.input = product.bias.valid() ? layer.input_of(product.bias) : -1};
  if (product.bias.valid() && bias.input < 0) return std::nullopt;
  if (bias.input >= 0) bias.desc = layer.inputs[static_cast<size_t>(bias.input)];
  std::optional<ElementSite> site = followed_site(layer, form->done, bias);
  if (!site) return std::nullopt;
  return CompressedLayer{*form, static_cast<size_t>(data), layer.outputs[0].count() / product.columns,
                         std::move(*site)};
}

}  // namespace assay::engine::cuda
