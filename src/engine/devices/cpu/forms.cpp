#include "engine/devices/cpu/forms.h"

#include "engine/devices/cpu/processor.h"
#include "engine/devices/cpu/rows/floats.h"

namespace assay::engine::cpu {
namespace {

bool lie_alike(const TensorDesc& in, const TensorDesc& out, Layout layout) {
  return has_layout(in, layout) && has_layout(out, layout);
}

}  // namespace

const ConvolutionForm* convolution_of(const Layer& layer) {
  const auto* const form = form_as<ConvolutionForm>(layer);
  if (form == nullptr) return nullptr;
  const TensorDesc& data = layer.inputs[static_cast<size_t>(form->data)];
  const bool has_type = form->is_integer() || is_float(data.dtype);
  return has_type && lie_alike(data, layer.outputs[0], Layout::channels_last) ? form : nullptr;
}

bool multiplies_on_tiles(const Layer& layer) {
  const ConvolutionForm* const form = convolution_of(layer);
  return form != nullptr && form->weights->dtype() == tensor::DType::bfloat16 && has_amx_bf16();
}

std::optional<LocatedProduct> product_of(const Layer& layer) {
  const auto* const form = form_as<ProductForm>(layer);
  if (form == nullptr || (!form->is_integer() && !is_float(form->left_type))) return std::nullopt;
  return locate(layer, *form);
}

std::optional<ProductGeometry> float_product_of(const Layer& layer) {
  const auto* const form = form_as<ProductForm>(layer);
  if (form == nullptr || form->is_integer() || !is_float(form->left_type)) return std::nullopt;
  return product_geometry(layer, *form);
}

const ResizeForm* resize_of(const Layer& layer) {
  const auto* const form = form_as<ResizeForm>(layer);
  if (form == nullptr) return nullptr;
  const TensorDesc& in = layer.inputs[0];
  const TensorDesc& out = layer.outputs[0];
  return lie_alike(in, out, Layout::plain) || lie_alike(in, out, Layout::channels_last) ? form : nullptr;
}

}  // namespace assay::engine::cpu
