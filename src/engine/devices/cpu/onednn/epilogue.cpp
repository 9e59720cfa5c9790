#include "engine/devices/cpu/onednn/epilogue.h"

#include <limits>

#include "engine/devices/cpu/rows/floats.h"
#include "tensor/elements.h"

namespace assay::engine::cpu::onednn {
namespace {

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

}  // namespace

std::pair<Eltwise, size_t> leading_eltwise(const Layer& layer, size_t next, ir::ValueId given) {
  if (layer.nodes.size() <= next || layer.operand(layer.nodes[next], 0) != given) return {};
  const ir::NodeId node = layer.nodes[next];
  const std::string_view first = layer.op(node);
  if (first == "Relu") return {{kRelu, 0, 0}, 1};
  if (first == "LeakyRelu") return {{kRelu, static_cast<float>(layer.facts(node).floating("alpha", 0.01)), 0}, 1};
  if (first == "Clip") {
    const Eltwise clip = clip_of(layer, node);
    return {clip, clip.algorithm == 0 ? 0 : 1};
  }
  if (first == "HardSwish") return {{kHardSwish, 1.0F / 6, 0.5F}, 1};
  if (first != "Sigmoid" || layer.nodes.size() <= next + 1) return {};
  const ir::NodeId product = layer.nodes[next + 1];
  const bool is_swish =
      layer.op(product) == "Mul" && uses(layer, product, given) && uses(layer, product, layer.result(node, 0));
  return is_swish ? std::pair(Eltwise{kSwish, 1, 0}, size_t{2}) : std::pair<Eltwise, size_t>();
}

namespace {

// The input of the layer that the node after the first `done` adds to the product, element by element; -1: there is
// none.
int added_input(const Layer& layer, size_t done) {
  if (layer.nodes.size() <= done || layer.op(layer.nodes[done]) != "Add") return -1;
  const ir::ValueId product = layer.result(layer.nodes[done - 1], 0);
  const ir::ValueId first = layer.operand(layer.nodes[done], 0);
  const int input = layer.input_of(first == product ? layer.operand(layer.nodes[done], 1) : first);
  return input >= 0 && layer.inputs[static_cast<size_t>(input)] == layer.outputs[0] ? input : -1;
}

// Where more follows, floats are written faster than codes.
std::optional<Quantizer> last_quantizer(const Layer& layer, size_t done) {
  if (layer.nodes.size() != done + 1 || layer.op(layer.nodes[done]) != "QuantizeLinear") return std::nullopt;
  return find_quantizer(*layer.model, *layer.inference, layer.nodes[done],
                        [&](ir::ValueId value) { return layer.constant(value); });
}

}  // namespace

std::vector<Appended> Epilogue::appended(const Library& library, const tensor::Shape& dims,
                                         const tensor::Shape& strides) const {
  std::vector<Appended> all;
  for (const Step& step : steps) {
    all.push_back({.added = step.added < 0 ? nullptr : strided_desc(library, step.dtype, dims, strides),
                   .eltwise = step.eltwise});
  }
  return all;
}

std::optional<Epilogue> make_epilogue(const Layer& layer, bool adds, size_t done) {
  Epilogue epilogue;
  if (const int added = adds ? added_input(layer, done) : -1; added >= 0) {
    epilogue.steps.push_back({.added = added, .dtype = layer.outputs[0].dtype, .eltwise = {}});
    ++done;
  }
  const auto [eltwise, taken] = leading_eltwise(layer, done, layer.result(layer.nodes[done - 1], 0));
  if (taken > 0) epilogue.steps.push_back({.eltwise = eltwise});
  done += taken;
  if (done == layer.nodes.size()) return epilogue;
  epilogue.quantizer = last_quantizer(layer, done);
  if (epilogue.quantizer) return epilogue;
  std::optional<Tape> tape = Tape::make(layer, done, layer.result(layer.nodes[done - 1], 0));
  if (!tape) return std::nullopt;
  epilogue.tape = std::move(*tape);
  return epilogue;
}

}  // namespace assay::engine::cpu::onednn
