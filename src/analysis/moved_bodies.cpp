#include "analysis/moved_bodies.h"

#include <algorithm>

namespace assay::analysis {

using tensor::Datum;

MoveKey MovedBodies::key(ir::NodeId node, uint32_t operand) {
  return {seed_ + (calls_++ << 20), node.index, run_.value_or(0), operand, least_roundoff_};
}

std::vector<Datum> MovedBodies::run(ir::NodeId node, std::span<const Datum> inputs, const Call& call) {
  if (is_call(node)) return call(inputs);
  std::vector<Datum> given(inputs.begin(), inputs.end());
  std::vector<Datum> outputs = call(given);
  if (!run_) {
    for (Datum& output : outputs) output = rounded(output);
    return outputs;
  }
  const Rounding rounding = rounding_of(model_, node, inputs, outputs);
  if (rounding.kind == RoundingKind::rounded && !are_exact(outputs)) {
    const size_t count = std::min<size_t>(rounding.moves_first_only ? 1 : given.size(), given.size());
    for (uint32_t i = 0; i < count; ++i) given[i] = moved_input(given[i], rounding.inputs, key(node, i));
    outputs = call(given);
  }
  for (uint32_t i = 0; i < outputs.size(); ++i) {
    outputs[i] = moved_output(outputs[i], rounding, given.empty() ? nullptr : given.data(), key(node, kOutput + i));
  }
  return outputs;
}

}  // namespace assay::analysis
