#include "engine/devices/cpu/onednn/epilogue.h"

#include "engine/layers/followers.h"

namespace assay::engine::cpu::onednn {

std::optional<Eltwise> appended_eltwise(const Chain::Step& step) {
  switch (step.op) {
    case ElementOp::relu:
      return Eltwise{kRelu, 0, 0};
    case ElementOp::leaky_relu:
      return Eltwise{kRelu, step.p, 0};
    case ElementOp::hard_swish:
      return Eltwise{kHardSwish, 1.0F / 6, 0.5F};
    case ElementOp::clip:
      return step.p <= step.q ? std::optional(Eltwise{kClip, step.p, step.q}) : std::nullopt;
    default:
      return std::nullopt;
  }
}

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
  std::optional<Chain> chain = find_chain(layer, done, layer.result(layer.nodes[done - 1], 0));
  if (!chain) return std::nullopt;
  Epilogue epilogue;
  if (const int added = adds ? take_added(layer, *chain) : -1; added >= 0)
    epilogue.steps.push_back({.added = added, .dtype = layer.outputs[0].dtype, .eltwise = {}});
  if (!chain->steps.empty() && chain->steps[0].a == 0 && chain->uses(0) == 1) {
    if (const std::optional<Eltwise> eltwise = appended_eltwise(chain->steps[0])) {
      epilogue.steps.push_back({.eltwise = *eltwise});
      chain->drop_first();
    }
  }
  if (chain->steps.empty()) return epilogue;
  const Chain::Step& next = chain->steps[0];
  if (chain->steps.size() == 1 && next.makes_codes()) {  // if more follows, floats are written faster than codes
    epilogue.quantizer = {.codes = next.dtype, .scale = next.p, .zero = static_cast<int32_t>(next.q)};
    return epilogue;
  }
  std::optional<Tape> tape = Tape::make(layer, *chain);
  if (!tape) return std::nullopt;
  epilogue.tape = std::move(*tape);
  return epilogue;
}

}  // namespace assay::engine::cpu::onednn
