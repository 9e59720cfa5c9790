#include "engine/devices/cpu/onednn/epilogue.h"

namespace assay::engine::cpu::onednn {
namespace {

// oneDNN's numbers of operations on elements.
constexpr int kRelu = 32;
constexpr int kSwish = 44;

bool uses(const Layer& layer, ir::NodeId node, ir::ValueId value) {
  return layer.operand(node, 0) == value || layer.operand(node, 1) == value;
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
  Epilogue epilogue{eltwise, {}};
  if (taken + 1 == layer.nodes.size()) return epilogue;
  std::optional<Tape> tape = Tape::make(layer, taken + 1, given);
  if (!tape) return std::nullopt;
  epilogue.tape = std::move(*tape);
  return epilogue;
}

}  // namespace assay::engine::cpu::onednn
