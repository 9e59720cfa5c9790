#include "engine/layers/cumulative.h"

#include "tensor/elements.h"

namespace assay::engine {

std::optional<CumulativeForm> find_cumulative(const Layer& layer) {
  if (!layer.is_single() || !layer.starts_with("CumSum") || layer.constants[1] == nullptr) return std::nullopt;
  const TensorDesc& in = layer.inputs[0];
  if (!has_layout(in, Layout::plain) || !has_layout(layer.outputs[0], Layout::plain) || in.count() == 0) return {};
  const ops::Node facts = layer.facts(layer.nodes[0]);
  const int64_t axis = ops::normalize_axis(tensor::load_elements<int64_t>(*layer.constants[1]).front(),
                                           static_cast<int64_t>(in.dims.size()));
  return CumulativeForm{axis, facts.flag("exclusive"), facts.flag("reverse")};
}

}  // namespace assay::engine
