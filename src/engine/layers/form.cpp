#include "engine/layers/form.h"

namespace assay::engine {
namespace {

// Takes the first reader that knows the layer.
template <typename Found, typename... Readers>
bool take(const Layer& layer, Form& form, std::optional<Found> (*read)(const Layer&), Readers... others) {
  if (std::optional<Found> found = read(layer)) {
    form.kind = *std::move(found);
    return true;
  }
  if constexpr (sizeof...(others) > 0) return take(layer, form, others...);
  return false;
}

}  // namespace

const Form& form_of(const Layer& layer) {
  if (layer.form) return *layer.form;
  auto made = std::make_shared<Form>();
  if (!layer.nodes.empty()) take(layer, *made, find_convolution, find_product, find_pool, find_resize);
  layer.form = std::move(made);
  return *layer.form;
}

}  // namespace assay::engine
