#include "ops/evaluate.h"
#include "ops/kernels/movement/movement.h"
#include "ops/kernels/movement/padding.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

// First elements of the padded axes, then those behind: pads as they are given.
struct Padding {
  std::vector<size_t> axes;
  Dims pads;
};

void check_pads(const Padding& padding, const Dims& dims, PadMode mode) {
  const size_t count = padding.axes.size();
  for (size_t i = 0; i < count && mode != PadMode::constant; ++i) {
    const Dim& dim = dims[padding.axes[i]];
    const Dim total = dim + padding.pads[i] + padding.pads[count + i];
    const bool is_empty = dim.is(0) && total.is_number() && *total.number() > 0;
    if (is_empty)
      fail(ErrorCode::shape, "axis {} of shape {} is empty, nothing can be repeated", padding.axes[i], text(dims));
  }
}

void infer_pad(Infer& node) {
  const PadArguments arguments = pad_arguments(node);
  const PadMode mode = pad_mode(node);
  if (node.has(2) && node.is_ranked(2) && product(node.dims(2)).is_number() && !product(node.dims(2)).is(1)) {
    fail(ErrorCode::shape, "the padding value must be one element, its shape is {}", text(node.dims(2)));
  }
  const std::optional<Dims> pads = known_list(node, arguments.pads);
  if (!node.is_ranked(0)) return;
  Dims dims = node.dims(0);
  const bool has_axes = arguments.has_axes && node.has(3);
  std::optional<std::vector<int64_t>> given;
  if (has_axes) given = known_numbers(node, {"axes", 3, 0});
  if (!pads || (has_axes && !given)) return node.set_dims(0, Dims(dims.size()));
  const Padding padding{padded_axes(given, dims.size()), *pads};
  const size_t count = padding.axes.size();
  if (pads->size() != 2 * count) {
    fail(ErrorCode::shape, "{} pads are given for {} axes, the input has shape {}", pads->size(), count, text(dims));
  }
  check_pads(padding, dims, mode);
  for (size_t i = 0; i < count; ++i) {
    dims[padding.axes[i]] = dims[padding.axes[i]] + padding.pads[i] + padding.pads[count + i];
  }
  node.set_dims(0, std::move(dims));
}

Tensor filler_of(const Eval& node, const PadArguments& arguments) {
  if (node.version() < arguments.pads.since) {
    return make_rounded(node.stored(node.out_dtype(0)), {}, std::vector<double>{node.floating("value")});
  }
  return node.has(2) ? node.tensor_in(2) : Tensor();
}

void eval_pad(Eval& node) {
  if (node.out_count(0) == 0) return node.set_tensor(0, MoveTo(node.tensor_in(0).dtype(), node.out_shape(0)).finish());
  const PadArguments arguments = pad_arguments(node);
  const PadMode mode = pad_mode(node);
  const Shape& from = node.shape(0);
  const std::vector<int64_t> pads = list_of(node, arguments.pads);
  std::optional<std::vector<int64_t>> given;
  if (arguments.has_axes && node.has(3)) given = node.integers_in(3);
  const std::vector<size_t> axes = padded_axes(given, from.size());
  const std::vector<AxisMap> maps = pad_maps(from, axes, pads, mode);
  const Tensor filler = filler_of(node, arguments);
  node.set_tensor(0, move_by_maps(node.tensor_in(0), maps, filler.count() == 1 ? &filler : nullptr));
}

}  // namespace

OperatorRows operator_movement_pad() {
  static constexpr Operator kRows[] = {
      {.name = "Pad",
       .traits = {Nature::movement, {.range = ValueRange::first_or_zero, .sizes = {1, 3}}},
       .infer = infer_pad,
       .eval = eval_pad},
      {.domain = kMicrosoft,
       .name = "Pad",
       .traits = {Nature::movement, {.range = ValueRange::first_or_zero, .sizes = {1}}},
       .infer = infer_pad,
       .eval = eval_pad},
  };
  return kRows;
}

}  // namespace assay::ops
