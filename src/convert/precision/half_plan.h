#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/diagnostics.h"
#include "convert/precision/half_kernels.h"
#include "convert/precision/half_options.h"
#include "ir/model.h"

namespace assay::convert {

// In which type a use of a float value needs it.
enum class Wanted : uint8_t { float32, half, either };

// A node of which an attribute says the type of the result.
struct TypedNode {
  ir::NodeId node;
  std::string_view attribute;
};

// The edits that convert a model between float32 and 16 bits; nothing is edited yet.
struct HalfPlan {
  std::vector<bool> is_float;  // by value: a tensor of floats that the conversion may touch
  std::vector<bool> is_half;   // by value: of those, the ones that are half once the plan is carried out
  std::vector<bool> was_half;  // by value: half before
  std::vector<bool> is_wide;   // by value: of those that stay float32, the ones that Clips cut before they are cast
  std::vector<TypedNode> typed;
  std::vector<std::vector<Wanted>> wanted;    // by node: of its operands; empty: all float32
  std::map<ir::ValueId, HalfSurvey> weights;  // constants that converted nodes use
  std::vector<Layer> layers;                  // nodes with float32 values

  bool changes(ir::ValueId value) const {
    return is_float[value.index] && is_half[value.index] != was_half[value.index];
  }
  Wanted want(const ir::Use& use) const {
    const std::vector<Wanted>& all = wanted[use.user.index];
    return use.index < all.size() ? all[use.index] : Wanted::float32;
  }
};

// Error (usage) for a name in the options that no node has. What the plan leaves out on purpose goes into `findings`.
HalfPlan plan_half(const ir::Model& model, const HalfOptions& options, Diagnostics& findings);

}  // namespace assay::convert
