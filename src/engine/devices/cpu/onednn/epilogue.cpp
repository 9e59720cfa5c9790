#include "engine/devices/cpu/onednn/epilogue.h"

#include <limits>

#include "engine/devices/cpu/rows/floats.h"
#include "tensor/elements.h"

namespace assay::engine::cpu::onednn {
namespace {

// oneDNN's numbers of operations on elements.
constexpr int kRelu = 32;
constexpr int kSwish = 44;
constexpr int kClip = 47;
constexpr int kHardSwish = 52;

bool uses(const Layer& layer, ir::NodeId node, ir::ValueId value) {
  return layer.operand(node, 0) == value || layer.operand(node, 1) == value;
}

// A bound of Clip; left out: `otherwise`. Nullopt: it is computed.
std::optional<float> bound_of(const Layer& layer, ir::NodeId clip, uint32_t index, float otherwise) {
  const ir::ValueId value = layer.operand(clip, index);
  if (!value.valid()) return otherwise;
  const tensor::Tensor* const constant = layer.constant(value);
  if (constant == nullptr || constant->count() != 1 || !is_float(constant->dtype())) return std::nullopt;
  return static_cast<float>(tensor::load_elements<double>(*constant)[0]);
}

Eltwise clip_of(const Layer& layer, ir::NodeId clip) {
  constexpr int64_t kFirstWithInputs = 11;
  if (layer.facts(clip).version() < kFirstWithInputs) return {};
  const std::optional<float> low = bound_of(layer, clip, 1, std::numeric_limits<float>::lowest());
  const std::optional<float> high = bound_of(layer, clip, 2, std::numeric_limits<float>::max());
  return low && high && *low <= *high ? Eltwise{kClip, *low, *high} : Eltwise();
}

// The operation at the front of the nodes after the product, and how many of them it stands for.
std::pair<Eltwise, size_t> leading_eltwise(const Layer& layer) {
  if (layer.nodes.size() < 2) return {};
  const ir::ValueId product = layer.result(layer.nodes[0], 0);
  const std::string_view first = layer.op(layer.nodes[1]);
  if (first == "Relu") return {{kRelu, 0, 0}, 1};
  if (first == "LeakyRelu") {
    return {{kRelu, static_cast<float>(layer.facts(layer.nodes[1]).floating("alpha", 0.01)), 0}, 1};
  }
  if (first == "Clip" && layer.operand(layer.nodes[1], 0) == product) {
    const Eltwise clip = clip_of(layer, layer.nodes[1]);
    return {clip, clip.algorithm == 0 ? 0 : 1};
  }
  if (first == "HardSwish") return {{kHardSwish, 1.0F / 6, 0.5F}, 1};
  const bool is_swish = first == "Sigmoid" && layer.nodes.size() > 2 && layer.op(layer.nodes[2]) == "Mul" &&
                        uses(layer, layer.nodes[2], product) &&
                        uses(layer, layer.nodes[2], layer.result(layer.nodes[1], 0));
  if (is_swish) return {{kSwish, 1, 0}, 2};
  return {};
}

}  // namespace

std::optional<Epilogue> make_epilogue(const Layer& layer) {
  const auto [eltwise, taken] = leading_eltwise(layer);
  const ir::ValueId given = layer.result(layer.nodes[taken], 0);
  if (layer.desc_of(given).dtype != layer.outputs[0].dtype) return std::nullopt;  // it is computed in the same place
  Epilogue epilogue{eltwise, {}};
  if (taken + 1 == layer.nodes.size()) return epilogue;
  std::optional<Tape> tape = Tape::make(layer, taken + 1, given);
  if (!tape) return std::nullopt;
  epilogue.tape = std::move(*tape);
  return epilogue;
}

}  // namespace assay::engine::cpu::onednn
