#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "engine/layers/layer.h"

namespace assay::engine {

// Some or all elements of a tensor, in another shape or order.
struct View {
  TensorDesc desc;
  int64_t offset = 0;  // of the first element, in elements
};

// The views of a layer that moves nothing: each result as a view of the first operand, however that lies; nullopt: the
// operand has to lie in the order of its dims.
using ViewOf = std::function<std::optional<View>(const TensorDesc& operand)>;
using Views = std::vector<ViewOf>;  // by result

// The layout that an operand needs to be shown by a layer of views.
TensorDesc desc_to_show(const Layer& layer, const TensorDesc& operand);

// The views of Reshape and its relatives, Transpose, Slice, Split and Expand; nullopt for others.
std::optional<Views> find_views(const Layer& layer);

}  // namespace assay::engine
