#include "engine/layers/top_k.h"

#include <algorithm>
#include <limits>

namespace assay::engine {

std::optional<TopKForm> find_top_k(const Layer& layer) {
  if (!layer.is_single() || !layer.starts_with("TopK")) return std::nullopt;
  const TensorDesc& in = layer.inputs[0];
  const auto lies_plainly = [](const TensorDesc& desc) { return !desc.exists() || has_layout(desc, Layout::plain); };
  if (!lies_plainly(in) || !std::ranges::all_of(layer.outputs, lies_plainly) || in.dims.empty()) return std::nullopt;
  TopKForm form{.gives_values = layer.outputs[0].exists(),
                .gives_indices = layer.outputs.size() > 1 && layer.outputs[1].exists()};
  const TensorDesc& out = layer.outputs[form.gives_values ? 0 : 1];
  if (out.count() == 0) return std::nullopt;
  const ops::Node facts = layer.facts(layer.nodes[0]);
  const auto rank = static_cast<int64_t>(in.dims.size());
  form.length = in.dims.back();
  form.rows = in.count() / form.length;
  form.count = out.dims.back();
  form.takes_largest = facts.integer("largest", 1) != 0;
  const bool is_last = ops::normalize_axis(facts.integer("axis", -1), rank) == rank - 1;
  return is_last && form.length <= std::numeric_limits<int32_t>::max() ? std::optional(form) : std::nullopt;
}

}  // namespace assay::engine
