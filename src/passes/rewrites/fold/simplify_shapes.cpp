// Before: integers that follow from shapes: Shape of known dims, what is computed from it, and Reshape to such a shape.
// After:  constants; where some dims are only known at run time, a Reshape target of 0 for dims that it copies and one
//         -1 at most.
// Only if: every element is the same for all inputs that the model's types allow. Bodies of functions, which mean
//         something else at every call, are left alone.
#include <vector>

#include "passes/fold/fold_options.h"
#include "passes/pass.h"

namespace assay::passes {
namespace {

using ops::Dim;

class Simplifier {
 public:
  explicit Simplifier(PassRun& run) : run_(run), model_(run.model()), inference_(run.inference()) {}

  void run() {
    std::vector<ir::GraphId> graphs = {model_.main_graph()};
    for (size_t i = 0; i < graphs.size(); ++i) {
      for (ir::NodeId node = model_[graphs[i]].first; node.valid();) {
        const ir::NodeId next = model_[node].next;
        const std::vector<ir::GraphId> bodies = model_.bodies(model_[node]);
        graphs.insert(graphs.end(), bodies.begin(), bodies.end());
        if (!simplify(node)) return;
        node = next;
      }
    }
  }

 private:
  bool simplify(ir::NodeId node);
  std::optional<ir::Patch> known_results(ir::NodeId node) const;
  std::optional<std::vector<int64_t>> short_target(ir::NodeId node);
  std::optional<tensor::Tensor> known_value(ir::ValueId value) const;

  PassRun& run_;
  ir::Model& model_;
  const ops::Inference& inference_;  // of the model before this pass
};

std::optional<tensor::Tensor> Simplifier::known_value(ir::ValueId value) const {
  const ops::Elements* elements = inference_.elements(value);
  const ops::Type& type = inference_.type(value);
  if (!elements || !type.is_tensor()) return std::nullopt;
  if (type.dtype != tensor::DType::int64 && type.dtype != tensor::DType::int32) return std::nullopt;
  const std::optional<std::vector<int64_t>> numbers = ops::numbers(elements->items);
  if (!numbers) return std::nullopt;
  return ops::make_rounded(type.dtype, elements->shape, *numbers);
}

// Constants for all results that are used; nothing if one of them is not known.
std::optional<ir::Patch> Simplifier::known_results(ir::NodeId node) const {
  ir::Patch patch;
  bool is_empty = true;
  for (const ir::ValueId value : model_[node].results) {
    if (!value.valid() || !model_[value].first_use) continue;
    const std::optional<tensor::Tensor> known = known_value(value);
    if (!known) return std::nullopt;
    patch.replace(value, patch.add_constant(*known));
    is_empty = false;
  }
  if (is_empty) return std::nullopt;
  patch.remove(node);
  return patch;
}

// The target with dims that are copied from the operand as 0, or one that is not known as -1. Both together would ask
// for more than the model did where the copied dim is 0 in a run.
std::optional<std::vector<int64_t>> Simplifier::short_target(ir::NodeId node) {
  const ops::Elements* elements = inference_.elements(model_[node].operands[1].value);
  const ops::Type& type = inference_.type(model_[node].operands[0].value);
  if (!elements || run_.constant(model_[node].operands[1].value)) return std::nullopt;
  const bool copies = !run_.facts(node).flag("allowzero");
  std::vector<int64_t> items;
  int inferred = 0, not_positive = 0;
  for (size_t i = 0; i < elements->items.size(); ++i) {
    const Dim& item = elements->items[i];
    const bool is_copy = copies && type.dims && i < type.dims->size() && item.equals((*type.dims)[i]);
    items.push_back(item.is_number() ? *item.number() : is_copy ? 0 : -1);
    if (!item.is_number() && !is_copy) {
      ++inferred;
    } else if (items.back() <= 0) {
      ++not_positive;
    }
  }
  if (inferred > 1 || (inferred == 1 && not_positive > 0)) return std::nullopt;
  return items;
}

// False: the rewriter is done.
bool Simplifier::simplify(ir::NodeId node) {
  if (run_.rewriter().is_done()) return false;
  if (const std::optional<ir::Patch> patch = known_results(node)) {
    return run_.rewriter().commit("its elements follow from shapes", *patch);
  }
  if (model_.text(model_[node].op) != "Reshape" || !run_.is_op(node, "Reshape")) return true;
  const std::optional<std::vector<int64_t>> target = short_target(node);
  if (!target) return true;
  ir::Patch patch;
  patch.insert_before(node);
  patch.set_operand(
      node, 1,
      patch.add_constant(ops::make_rounded(tensor::DType::int64, {static_cast<int64_t>(target->size())}, *target)));
  return run_.rewriter().commit("its target follows from the shape of what it reshapes", patch);
}

void simplify_shapes(PassRun& run) {
  if (run.options().get<FoldOptions>().folds_shapes) Simplifier(run).run();
}

}  // namespace

Pass pass_fold_simplify_shapes() {
  return {.name = "simplify-shapes",
          .summary = "replace integers that follow from shapes by constants",
          .run = simplify_shapes};
}

}  // namespace assay::passes
