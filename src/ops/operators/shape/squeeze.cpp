#include <algorithm>

#include "ops/kernels/elements/element_inference.h"
#include "ops/kernels/elements/list_argument.h"
#include "ops/kernels/movement/movement.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

constexpr ListArgument kAxes{.name = "axes", .input = 1, .since = 13, .may_be_scalar = true};

void set_reshaped(Infer& node, Dims dims) {
  if (const std::optional<std::vector<int64_t>> shape = numbers(dims)) {
    infer_moved_elements(node, *shape, [](uint64_t place) { return place; });
  }
  node.set_dims(0, std::move(dims));
}

bool is_among(const std::vector<int64_t>& axes, size_t axis) {
  return std::ranges::find(axes, static_cast<int64_t>(axis)) != axes.end();
}

// Every axis of one element; empty where it is not known which have one.
std::optional<std::vector<int64_t>> single_axes(const Dims& dims) {
  std::vector<int64_t> axes;
  for (size_t a = 0; a < dims.size(); ++a) {
    if (!dims[a].is_number()) return std::nullopt;
    if (dims[a].is(1)) axes.push_back(static_cast<int64_t>(a));
  }
  return axes;
}

void infer_squeeze(Infer& node) {
  if (!node.is_ranked(0)) return;
  const Dims& dims = node.dims(0);
  std::optional<std::vector<int64_t>> axes = is_given(node, kAxes) ? known_numbers(node, kAxes) : single_axes(dims);
  if (!axes) {
    const std::optional<Dims> list = known_list(node, kAxes);
    if (list && list->size() <= dims.size()) node.set_dims(0, Dims(dims.size() - list->size()));
    return;
  }
  axes = normalize_axes(std::move(*axes), node.rank(0));
  Dims result;
  for (size_t a = 0; a < dims.size(); ++a) {
    const bool goes = is_among(*axes, a);
    if (!goes) result.push_back(dims[a]);
    if (goes && dims[a].is_number() && !dims[a].is(1)) {
      fail(ErrorCode::shape, "axis {} cannot be removed from shape {}: it is not 1", a, text(dims));
    }
  }
  set_reshaped(node, std::move(result));
}

void infer_unsqueeze(Infer& node) {
  const std::optional<Dims> list = known_list(node, kAxes);
  if (!node.is_ranked(0) || !list) return;
  const size_t rank = node.dims(0).size() + list->size();
  const std::optional<std::vector<int64_t>> known = numbers(*list);
  if (!known) return node.set_dims(0, Dims(rank));
  const std::vector<int64_t> axes = normalize_axes(*known, static_cast<int64_t>(rank));
  Dims result;
  size_t next = 0;
  for (size_t a = 0; a < rank; ++a) result.push_back(is_among(axes, a) ? Dim(1) : node.dims(0)[next++]);
  set_reshaped(node, std::move(result));
}

void eval_reshaped(Eval& node) { node.set_tensor(0, reshaped(node.tensor_in(0), node.out_shape(0))); }

}  // namespace

OperatorRows operator_shape_squeeze() {
  static constexpr Traits kInOrder = {Nature::movement, {.moves = Moves::in_order, .sizes = {1}}};
  static constexpr Operator kRows[] = {
      {.name = "Squeeze", .traits = kInOrder, .infer = infer_squeeze, .eval = eval_reshaped},
      {.name = "Unsqueeze", .traits = kInOrder, .infer = infer_unsqueeze, .eval = eval_reshaped},
  };
  return kRows;
}

}  // namespace assay::ops
