#pragma once

#include <array>
#include <optional>
#include <vector>

#include "engine/layers/layer.h"
#include "ops/kernels/movement/places.h"

namespace assay::engine {

// A Pad of known pads.
struct Padding {
  static constexpr size_t kLongestElement = 16;  // bytes
  static constexpr size_t kFiller = 2;           // input

  std::vector<ops::AxisMap> maps;                   // sources of the result's elements, by dim
  bool is_filler_given = false;                     // by the input
  std::array<std::byte, kLongestElement> filler{};  // otherwise: of places for which nothing comes from the operand
};

// Nullopt: another layer, an empty one, or one whose pads or axes are computed, or that repeats what it has cut.
std::optional<Padding> find_padding(const Layer& layer);

}  // namespace assay::engine
