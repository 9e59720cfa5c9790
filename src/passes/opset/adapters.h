#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "passes/opset/draft.h"

namespace assay::passes {

// A reason for which a node has no form in another version; empty: it has one.
using Refusal = std::string;
using Adapt = Refusal (*)(Draft& draft);

// The difference between one version of an operator of ai.onnx and the version before. Pairs of versions that differ in
// the types that they allow need no row; all others have one. The node's form and types are always checked against the
// schema that a row ends in.
struct Adapter {
  std::string_view op;
  int64_t since;  // the newer version of the two
  // From the version before to this one; none: each node means the same.
  Adapt up = nullptr;
  // And back; none: each node means the same, once attributes that say their default were dropped.
  Adapt down = nullptr;
  // The change, if no function says it.
  std::string_view note = {};
};

const Adapter* find_adapter(std::string_view op, int64_t since);
std::span<const std::span<const Adapter>> adapter_groups();

// One of each file.
std::span<const Adapter> axes_adapters();
std::span<const Adapter> argument_adapters();
std::span<const Adapter> image_adapters();
std::span<const Adapter> normalization_adapters();
std::span<const Adapter> quantization_adapters();
std::span<const Adapter> softmax_adapters();
std::span<const Adapter> split_adapters();
std::span<const Adapter> addition_adapters();
std::span<const Adapter> shape_adapters();

// Helpers of several rows.

// The integers that input number `index` always is, for an attribute of the older version.
Refusal to_attribute(Draft& draft, size_t index, std::string_view name);
// An attribute of the older version as input number `index`; nothing where it is not written.
void to_input(Draft& draft, std::string_view name, size_t index);
// Refuses where dilations are not all 1, which is what there was before there were any.
Refusal drop_dilations(Draft& draft);
// Only rounding to 8-bit floats saturates or not, and they came with it.
Refusal drop_saturate(Draft& draft);

}  // namespace assay::passes
