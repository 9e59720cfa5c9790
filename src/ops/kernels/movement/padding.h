#pragma once

#include <optional>
#include <span>
#include <vector>

#include "ops/kernels/elements/list_argument.h"
#include "ops/kernels/movement/places.h"

namespace assay::ops {

enum class PadMode : uint8_t { constant, reflect, edge, wrap };

// Error where the version has no such mode.
PadMode pad_mode(const Node& node);

// The inputs and attributes of pads and axes: version 1 calls the attribute `paddings`, axes came with version 18.
struct PadArguments {
  ListArgument pads;
  bool has_axes = false;
};

PadArguments pad_arguments(const Node& node);
// All axes where none are given.
std::vector<size_t> padded_axes(std::optional<std::vector<int64_t>> given, size_t rank);

// The sources of the elements along each axis. Pads are as Pad has them: those before the axes, then those behind.
// Error if negative ones leave nothing that could be repeated.
std::vector<AxisMap> pad_maps(const tensor::Shape& from, std::span<const size_t> axes, std::span<const int64_t> pads,
                              PadMode mode);

}  // namespace assay::ops
