#include "ops/kernels/elements/limited_broadcast.h"

#include "ops/kernels/movement/movement.h"

namespace assay::ops {
namespace {

// The axis of the first input at which the dims of the second begin.
int64_t first_axis(const Node& node, int64_t rank, int64_t second_rank) {
  const int64_t suffix = rank - second_rank;
  if (!node.has_attribute("axis")) return suffix;
  int64_t axis = node.integer("axis");
  if (axis == -1) return suffix;
  axis = normalize_axis(axis, std::max<int64_t>(rank, 1));
  if (axis > suffix) {
    fail(ErrorCode::shape, "from axis {} on, {} dims do not fit into rank {}", axis, second_rank, rank);
  }
  return axis;
}

void check_run(const Infer& node) {
  const Dims& whole = node.dims(0);
  const Dims& part = node.dims(1);
  if (part.size() > whole.size()) {
    fail(ErrorCode::shape, "shape {} does not broadcast to {}", text(part), text(whole));
  }
  if (product(part).is(1)) return;
  const auto axis = static_cast<size_t>(first_axis(node, node.rank(0), node.rank(1)));
  for (size_t i = 0; i < part.size(); ++i) {
    const Dim& wanted = whole[axis + i];
    if (wanted.is_number() && part[i].is_number() && !part[i].is(1) && !wanted.equals(part[i])) {
      fail(ErrorCode::shape, "shape {} is no run of the dims {} from axis {} on", text(part), text(whole), axis);
    }
  }
}

void check_same(const Infer& node) {
  bool fits = node.rank(0) == node.rank(1);
  for (size_t i = 0; fits && i < node.dims(0).size(); ++i) {
    const Dim& a = node.dims(0)[i];
    const Dim& b = node.dims(1)[i];
    fits = !a.is_number() || !b.is_number() || a.equals(b);
  }
  if (!fits) {
    fail(ErrorCode::shape, "without `broadcast` the shapes must be the same, seen {} and {}", text(node.dims(0)),
         text(node.dims(1)));
  }
}

}  // namespace

void infer_limited_broadcast(Infer& node) {
  if (node.all_ranked()) {
    if (node.flag("broadcast")) {
      check_run(node);
    } else {
      check_same(node);
    }
  }
  infer_same_as_first(node);
}

void eval_along_axis(Eval& node, int64_t axis, void (*eval)(Eval& node)) {
  Shape shape = node.shape(1);
  if (node.count(1) == 1) {
    shape.clear();
  } else {
    shape.resize(shape.size() + static_cast<size_t>(node.rank(0) - node.rank(1) - axis), 1);
  }
  const Datum inputs[] = {node.datum(0), Datum(reshaped(node.tensor_in(1), std::move(shape)), node.dtype(1))};
  const Type types[] = {node.out_type(0)};
  Datum outputs[1];
  Eval inner(node, inputs, types, outputs, node.runner(), node.is_wide());
  eval(inner);
  node.set(0, std::move(outputs[0]));
}

void eval_limited_broadcast(Eval& node, void (*eval)(Eval& node)) {
  const bool is_one = node.count(1) == 1;
  eval_along_axis(node, is_one ? 0 : first_axis(node, node.rank(0), node.rank(1)), eval);
}

}  // namespace assay::ops
