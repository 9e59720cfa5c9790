#pragma once

#include <array>
#include <optional>

#include "engine/layers/chain.h"

namespace assay::engine {

// Takes a sum off the front of a chain: that of what is given and of an input that lies like the layer's result.
// Returns the input; -1: the chain begins with something else, or reads what is given later, too.
int take_added(const Layer& layer, Chain& chain);
// Takes a sum with one number for each of so many columns likewise.
int take_added_row(const Layer& layer, int64_t columns, Chain& chain);

// Takes a Relu or Clip off the front of a chain; nullopt: as above.
std::optional<std::array<float, 2>> take_bounds(Chain& chain);

}  // namespace assay::engine
