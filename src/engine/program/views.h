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

// What a layer does that moves nothing: each result as a view of the first operand, however that lies; nullopt: the
// operand has to lie in the order of its dims.
using ViewOf = std::function<std::optional<View>(const TensorDesc& operand)>;
using Views = std::vector<ViewOf>;  // by result

// How an operand is to lie that a layer of views cannot show as it does.
TensorDesc desc_to_show(const Layer& layer, const TensorDesc& operand);

// Of Reshape and its relatives, Transpose, Slice, Split and Expand; nullopt for others.
std::optional<Views> find_views(const Layer& layer);

}  // namespace assay::engine
