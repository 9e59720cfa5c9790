#include "engine/layers/form.h"

namespace assay::engine {
namespace {

std::optional<SpelledAttention> find_attention(const Layer& layer) {
  if (layer.is_single()) return std::nullopt;
  return match_attention(*layer.model, *layer.inference, layer.nodes, layer.constants_by_value());
}

std::optional<QuantizedAttention> find_attention_of_codes(const Layer& layer) {
  if (layer.is_single()) return std::nullopt;
  return match_quantized_attention(*layer.model, *layer.inference, layer.nodes, layer.constants_by_value());
}

std::optional<SpelledRotary> find_spelled_rotary(const Layer& layer) {
  if (layer.is_single() || layer.outputs.size() != 1) return std::nullopt;
  std::optional<SpelledRotary> found =
      match_rotary(*layer.model, *layer.inference, layer.nodes.back(), layer.constants_by_value());
  return found && found->nodes == layer.nodes ? found : std::nullopt;
}

std::optional<Chain> find_whole_chain(const Layer& layer) { return find_chain(layer, 0, {}); }

// The form that the first of the functions finds.
template <typename... Find>
Form first_of(const Layer& layer, Find... find) {
  Form form;
  const auto take = [&](auto found) {
    const bool is_found = found.has_value();
    if (is_found) form.kind = *std::move(found);
    return is_found;
  };
  static_cast<void>((take(find(layer)) || ...));
  return form;
}

Form find_form(const Layer& layer) {
  if (layer.nodes.empty()) return {};
  std::optional<Reduction> (*const reduction)(const Layer&) = find_reduction;
  return first_of(layer, find_separable, find_fused_product, find_convolution, find_attention, find_attention_of_codes,
                  find_group_query, find_product, find_compressed, find_pool, find_resize, find_norm, find_softmax,
                  find_channel_norm, find_spelled_rotary, find_recurrence, find_whole_chain, reduction, find_places);
}

}  // namespace

const Form& form_of(const Layer& layer) {
  if (!layer.form) layer.form = std::make_shared<const Form>(find_form(layer));
  return *layer.form;
}

}  // namespace assay::engine
