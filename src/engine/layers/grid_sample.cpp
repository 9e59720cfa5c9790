#include "engine/layers/grid_sample.h"

#include <limits>

namespace assay::engine {

std::optional<GridForm> find_grid_sample(const Layer& layer) {
  if (!layer.is_single() || !layer.starts_with("GridSample")) return std::nullopt;
  for (const TensorDesc& desc : {layer.inputs[0], layer.inputs[1], layer.outputs[0]}) {
    if (desc.dims.size() != 4 || desc.count() == 0 || !has_layout(desc, Layout::plain)) return std::nullopt;
  }
  const tensor::Shape& in = layer.inputs[0].dims;
  const ops::Node facts = layer.facts(layer.nodes[0]);
  const GridForm form{ops::grid_mode(facts), ops::grid_padding(facts), facts.flag("align_corners")};
  const bool is_known = form.mode != ops::GridMode::cubic && in[2] * in[3] <= std::numeric_limits<uint32_t>::max();
  return is_known ? std::optional(form) : std::nullopt;
}

}  // namespace assay::engine
