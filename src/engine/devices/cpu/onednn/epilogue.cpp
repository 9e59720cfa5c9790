#include "engine/devices/cpu/onednn/epilogue.h"

#include "engine/layers/followers.h"

namespace assay::engine::cpu::onednn {

std::optional<Eltwise> appended_eltwise(const Layer& layer, size_t next, ir::ValueId given) {
  if (layer.nodes.size() <= next || layer.operand(layer.nodes[next], 0) != given) return std::nullopt;
  const ir::NodeId node = layer.nodes[next];
  const std::string_view op = layer.op(node);
  if (!is_used_once(layer, given)) return std::nullopt;
  if (op == "Relu") return Eltwise{kRelu, 0, 0};
  if (op == "LeakyRelu") return Eltwise{kRelu, static_cast<float>(layer.facts(node).floating("alpha", 0.01)), 0};
  if (op == "HardSwish") return Eltwise{kHardSwish, 1.0F / 6, 0.5F};
  const std::optional<std::array<float, 2>> bounds = op == "Clip" ? bounds_of_clip(layer, node) : std::nullopt;
  return bounds ? std::optional(Eltwise{kClip, (*bounds)[0], (*bounds)[1]}) : std::nullopt;
}

namespace {

// The quantizer at the end; nullopt if more follows: floats are written faster than codes.
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
  const std::optional<Eltwise> eltwise = appended_eltwise(layer, done, layer.result(layer.nodes[done - 1], 0));
  if (eltwise) {
    epilogue.steps.push_back({.eltwise = *eltwise});
    ++done;
  }
  if (done == layer.nodes.size()) return epilogue;
  epilogue.quantizer = last_quantizer(layer, done);
  if (epilogue.quantizer) return epilogue;
  std::optional<Tape> tape = Tape::make(layer, done, layer.result(layer.nodes[done - 1], 0));
  if (!tape) return std::nullopt;
  epilogue.tape = std::move(*tape);
  return epilogue;
}

}  // namespace assay::engine::cpu::onednn
