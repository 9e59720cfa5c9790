#include "ops/kernels/elements/list_argument.h"
#include "ops/kernels/movement/movement.h"
#include "ops/kernels/movement/places.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

constexpr ListArgument kShape{.name = "shape", .input = 1};

std::vector<int64_t> axes_of(const Node& node, int64_t rank) {
  std::vector<int64_t> axes = node.integers("axes");
  if (!node.has_attribute("axes")) {
    for (int64_t a = 0; a < rank; ++a) axes.push_back(a);
  }
  return normalize_axes(std::move(axes), rank);
}

void infer_center_crop_pad(Infer& node) {
  const std::optional<Dims> shape = known_list(node, kShape);
  if (!node.is_ranked(0)) return;
  Dims dims = node.dims(0);
  const std::vector<int64_t> axes = axes_of(node, node.rank(0));
  if (shape && shape->size() != axes.size()) {
    fail(ErrorCode::shape, "the shape {} is for {} axes", text(*shape), axes.size());
  }
  for (size_t i = 0; i < axes.size(); ++i) dims[static_cast<size_t>(axes[i])] = shape ? (*shape)[i] : Dim();
  node.set_dims(0, std::move(dims));
}

// The map of an axis that is cut or padded on both sides; an odd element is cut, or added, at the end.
AxisMap centered_map(int64_t from, int64_t to) {
  const int64_t cut = from > to ? (from - to) / 2 : 0;
  const int64_t added = to > from ? (to - from) / 2 : 0;
  AxisMap map(static_cast<size_t>(to), kNowhere);
  for (int64_t i = 0; i < std::min(from, to); ++i) map[static_cast<size_t>(added + i)] = cut + i;
  return map;
}

void eval_center_crop_pad(Eval& node) {
  const Shape to = node.out_shape(0);
  if (node.out_count(0) == 0) return node.set_tensor(0, MoveTo(node.tensor_in(0).dtype(), to).finish());
  std::vector<AxisMap> maps;
  for (size_t a = 0; a < to.size(); ++a) maps.push_back(centered_map(node.shape(0)[a], to[a]));
  node.set_tensor(0, move_by_maps(node.tensor_in(0), maps, nullptr));
}

}  // namespace

OperatorRows operator_movement_center_crop_pad() {
  static constexpr Operator kRows[] = {
      {.name = "CenterCropPad",
       .since = 18,
       .traits = {Nature::movement, {.range = ValueRange::first_or_zero, .sizes = {1}}},
       .infer = infer_center_crop_pad,
       .eval = eval_center_crop_pad},
  };
  return kRows;
}

}  // namespace assay::ops
