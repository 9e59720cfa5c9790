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
  const ops::Callee& callee = inference.callees()[node];
  if (name == kReductions.end() || !model.text(model[node].domain).empty() || callee.op == nullptr) return std::nullopt;
  const std::optional<TensorDesc> data = find_desc(model, inference, ir::operand(model, node, 0));
  if (!data) return std::nullopt;
  const size_t rank = data->dims.size();
  if (name->op == "GlobalAveragePool") return Reduction{name->kind, axes_from(2, rank)};
  const ops::Node facts(model, model[node], callee.schema, callee.version, nullptr);
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

}  // namespace assay::engine
