#include "engine/layers/form.h"

namespace assay::engine {
namespace {

Form find_form(const Layer& layer) {
  if (layer.nodes.empty()) return {};
  if (std::optional<ConvolutionForm> found = find_convolution(layer)) return {*std::move(found)};
  if (std::optional<ProductForm> found = find_product(layer)) return {*std::move(found)};
  if (std::optional<PoolForm> found = find_pool(layer)) return {*std::move(found)};
  if (std::optional<ResizeForm> found = find_resize(layer)) return {*std::move(found)};
  if (std::optional<Chain> found = find_chain(layer, 0, {})) return {*std::move(found)};
  return {};
}

}  // namespace

const Form& form_of(const Layer& layer) {
  if (!layer.form) layer.form = std::make_shared<const Form>(find_form(layer));
  return *layer.form;
}

}  // namespace assay::engine
