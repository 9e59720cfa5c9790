#pragma once

#include <array>
#include <optional>

#include "engine/layers/layer.h"

namespace assay::engine {

// True if one node uses a value, in one place: what follows does not need it then.
bool is_used_once(const Layer& layer, ir::ValueId value);

// The input of the layer that the node after the first `done` adds to their result, element by element, and nothing
// else uses; -1: there is none.
int added_input(const Layer& layer, size_t done);

// The bounds that a Clip keeps, left out: those of float32; nullopt: they are computed, or attributes.
std::optional<std::array<float, 2>> bounds_of_clip(const Layer& layer, ir::NodeId clip);

// The bounds that a Relu or Clip of `given` keeps; nullopt: another node, or others use `given` too.
std::optional<std::array<float, 2>> bounds_of(const Layer& layer, ir::NodeId node, ir::ValueId given);

}  // namespace assay::engine
