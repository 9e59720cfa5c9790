#include "engine/layers/reduction.h"

#include <algorithm>
#include <array>

#include "ir/queries.h"
#include "tensor/elements.h"

namespace assay::engine {
namespace {

using Kind = Reduction::Kind;

struct ReductionName {
  std::string_view op;
  Kind kind;
};
constexpr std::array kReductions = {
    ReductionName{"ReduceSum", Kind::sum},          ReductionName{"ReduceMean", Kind::mean},
    ReductionName{"GlobalAveragePool", Kind::mean}, ReductionName{"ReduceSumSquare", Kind::square},
    ReductionName{"ReduceL2", Kind::length},        ReductionName{"ReduceMax", Kind::maximum}};

std::set<size_t> axes_from(size_t first, size_t rank) {
  std::set<size_t> axes;
  for (size_t i = first; i < rank; ++i) axes.insert(i);
  return axes;
}

}  // namespace

std::optional<Reduction> find_reduction(const ir::Model& model, const ops::Inference& inference, ir::NodeId node,
                                        const ConstantOf& constant) {
  const auto name = std::ranges::find(kReductions, model.text(model[node].op), &ReductionName::op);
  const bool is_known = model.text(model[node].domain).empty() && inference.callees()[node].op != nullptr;
  if (name == kReductions.end() || !is_known) return std::nullopt;
  const std::optional<TensorDesc> data = find_desc(model, inference, ir::operand(model, node, 0));
  if (!data) return std::nullopt;
  const size_t rank = data->dims.size();
  if (name->op == "GlobalAveragePool") return Reduction{name->kind, axes_from(2, rank)};
  const ops::Node facts = node_facts(model, inference, node);
  std::vector<int64_t> axes = facts.integers("axes");
  if (const ir::ValueId given = ir::operand(model, node, 1); given.valid()) {
    const tensor::Tensor* const known = constant(given);
    if (known == nullptr) return std::nullopt;
    axes = tensor::load_elements<int64_t>(*known);
  }
  if (axes.empty() && facts.integer("noop_with_empty_axes", 0) != 0) return std::nullopt;
  Reduction found{name->kind, axes_from(axes.empty() ? 0 : rank, rank)};
  for (const int64_t axis : axes)
    found.axes.insert(static_cast<size_t>(ops::normalize_axis(axis, static_cast<int64_t>(rank))));
  return found;
}

std::optional<Reduction> find_reduction(const Layer& layer) {
  if (layer.outputs.size() != 1) return std::nullopt;
  return find_reduction(*layer.model, *layer.inference, layer.nodes.back(), layer.constants_by_value());
}

std::optional<PlacesForm> find_places(const Layer& layer) {
  const bool is_maximum = layer.starts_with("ArgMax");
  if (!layer.is_single() || (!is_maximum && !layer.starts_with("ArgMin"))) return std::nullopt;
  const ops::Node facts = layer.facts(layer.nodes[0]);
  const auto rank = static_cast<int64_t>(layer.inputs[0].dims.size());
  return PlacesForm{static_cast<size_t>(ops::normalize_axis(facts.integer("axis", 0), rank)), is_maximum,
                    facts.integer("select_last_index", 0) != 0};
}

Layer without_last(const Layer& layer) {
  const ir::ValueId result = layer.operand(layer.nodes.back(), 0);
  Layer chain = layer;
  chain.form = nullptr;
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

std::optional<ReductionExtents> reduction_extents(const TensorDesc& in, const TensorDesc& out,
                                                  const std::set<size_t>& axes) {
  if (!is_dense(in) || !is_dense(out)) return std::nullopt;
  const bool keeps = in.dims.size() == out.dims.size();
  std::vector<size_t> kept;  // by the dims of the result
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

}  // namespace assay::engine
