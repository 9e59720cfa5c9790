#include "engine/layers/layer_part.h"

#include <set>

namespace assay::engine {

LayerPart part_of(const Layer& whole, std::span<const ir::NodeId> nodes, Layout between) {
  LayerPart part{.layer = whole, .inputs = {}};
  Layer& layer = part.layer;
  layer.form = nullptr;
  layer.nodes.assign(nodes.begin(), nodes.end());
  layer.input_values.clear();
  layer.inputs.clear();
  layer.constants.clear();
  std::set<ir::ValueId> known;
  for (const ir::NodeId node : nodes) {
    for (const ir::Use& use : (*whole.model)[node].operands) {
      if (!use.value.valid() || !known.insert(use.value).second) continue;
      const int input = whole.input_of(use.value);
      const bool is_given = input >= 0;
      const TensorDesc made = whole.desc_of(use.value);
      layer.input_values.push_back(use.value);
      part.inputs.push_back(is_given ? input : LayerPart::kMadeBefore);
      layer.inputs.push_back(is_given ? whole.inputs[static_cast<size_t>(input)]
                                      : make_desc(made.dtype, made.dims, between));
      layer.constants.push_back(is_given ? whole.constants[static_cast<size_t>(input)] : nullptr);
    }
    const auto results = (*whole.model)[node].results;
    known.insert(results.begin(), results.end());
  }
  return part;
}

LayerPart part_until(const Layer& whole, std::span<const ir::NodeId> nodes, Layout between, ir::ValueId last) {
  LayerPart part = part_of(whole, nodes, between);
  const TensorDesc desc = whole.desc_of(last);
  part.layer.outputs = {make_desc(desc.dtype, desc.dims, between)};
  part.layer.output_values = {last};
  return part;
}

}  // namespace assay::engine
