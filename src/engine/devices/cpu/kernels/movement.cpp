// Operators that only move elements, and are copies between views.
#include <algorithm>
#include <array>

#include "engine/devices/cpu/copy.h"
#include "engine/devices/cpu/device.h"

namespace assay::engine::cpu {
namespace {

// Reshape and its relatives: the same elements in the same order.
class SameOrder final : public Implementation {
 public:
  std::string_view name() const override { return "movement.copy"; }
  std::unique_ptr<Kernel> make(const Layer& layer) const override {
    constexpr std::array<std::string_view, 5> kOperators = {"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity"};
    const std::string_view op = layer.op(layer.nodes.front());
    if (!layer.is_single() || std::ranges::find(kOperators, op) == kOperators.end() || !layer.starts_with(op))
      return {};
    if (layer.inputs[0].dtype != layer.outputs[0].dtype || !has_layout(layer.inputs[0], Layout::plain) ||
        !has_layout(layer.outputs[0], Layout::plain)) {
      return {};
    }
    const TensorDesc flat = make_desc(layer.outputs[0].dtype, {layer.outputs[0].count()});
    return make_copy(flat, flat);
  }
};

// The operand in the order of the result's dims.
class Transpose final : public Implementation {
 public:
  std::string_view name() const override { return "movement.transpose"; }
  std::unique_ptr<Kernel> make(const Layer& layer) const override {
    if (!layer.is_single() || !layer.starts_with("Transpose")) return {};
    const size_t rank = layer.inputs[0].dims.size();
    std::vector<int64_t> order = layer.facts(layer.nodes[0]).integers("perm");
    if (order.empty()) {
      for (size_t i = rank; i-- > 0;) order.push_back(static_cast<int64_t>(i));
    }
    if (order.size() != rank) return {};
    TensorDesc view{layer.inputs[0].dtype, layer.outputs[0].dims, {}};
    for (const int64_t axis : order) view.strides.push_back(layer.inputs[0].strides[static_cast<size_t>(axis)]);
    return make_copy(view, layer.outputs[0]);
  }
};

Implementations make_all(const Libraries&) {
  Implementations all;
  all.push_back(std::make_unique<SameOrder>());
  all.push_back(std::make_unique<Transpose>());
  return all;
}

}  // namespace

KernelFamily cpu_kernel_movement() { return {make_all}; }

}  // namespace assay::engine::cpu
