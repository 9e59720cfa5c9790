// Sums, means, squares and greatest elements over neighbouring dims, of an operand or of a chain of elementwise
// operators.
#include <algorithm>

#include "engine/devices/cpu/device.h"
#include "engine/devices/cpu/reductions/reduction_kernel.h"
#include "engine/devices/cpu/rows/floats.h"

namespace assay::engine::cpu {
namespace {

// Nullopt: the reduced dims are no neighbours, or the result lies in another order.
std::optional<ReductionExtents> extents_of(const TensorDesc& in, const TensorDesc& out, const std::set<size_t>& axes) {
  if (!is_dense(in) || !is_dense(out)) return std::nullopt;
  const bool keeps = in.dims.size() == out.dims.size();
  std::vector<size_t> kept;  // as the result counts its dims
  ReductionExtents extents;
  bool is_past = false;
  for (const size_t dim : memory_order(in)) {
    if (axes.contains(dim)) {
      if (is_past) return std::nullopt;
      extents.reduced *= in.dims[dim];
      continue;
    }
    is_past = is_past || extents.reduced != 1;
    (is_past ? extents.inner : extents.outer) *= in.dims[dim];
    const auto gone = static_cast<size_t>(std::ranges::count_if(axes, [&](size_t axis) { return axis < dim; }));
    kept.push_back(keeps ? dim : dim - gone);
  }
  return kept == memory_order(out) ? std::optional(extents) : std::nullopt;
}

// What the nodes before the last one compute, in the order of the first operand that has as many elements.
Layer chain_of(const Layer& layer, ir::ValueId result) {
  Layer chain = layer;
  chain.nodes.pop_back();
  chain.output_values = {result};
  chain.outputs = {layer.desc_of(result)};
  for (size_t i = 0; i < layer.inputs.size(); ++i) {
    const TensorDesc& desc = layer.inputs[i];
    if (layer.constants[i] != nullptr || desc.dims != chain.outputs[0].dims || !is_dense(desc)) continue;
    chain.outputs[0].strides = desc.strides;
    break;
  }
  return chain;
}

class Reducing final : public Implementation {
 public:
  std::string_view name() const override { return "reduction.rows"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    const std::optional<Reduction> found = find_reduction(*layer.model, *layer.inference, layer.nodes.back(),
                                                          [&](ir::ValueId value) { return layer.constant(value); });
    if (!found || layer.outputs.size() != 1) return {};
    ReducedElements elements;
    TensorDesc in = layer.inputs[0];
    if (!layer.is_single()) {
      const Layer chain = chain_of(layer, layer.operand(layer.nodes.back(), 0));
      in = chain.outputs[0];
      elements.tape = Tape::make(chain, 0, {});
      if (!elements.tape) return {};
    }
    if (!is_float(in.dtype) || in.count() == 0 || layer.outputs[0].dtype != in.dtype) return {};
    elements.dtype = in.dtype;
    const std::optional<ReductionExtents> extents = extents_of(in, layer.outputs[0], found->axes);
    return extents ? make_reduction(found->kind, *extents, std::move(elements)) : nullptr;
  }
};

Implementations make_reduction_kernels(const Libraries&) {
  Implementations all;
  all.push_back(std::make_unique<Reducing>());
  return all;
}

}  // namespace

KernelFamily cpu_kernel_reductions() { return {make_reduction_kernels}; }

}  // namespace assay::engine::cpu
