#include "ops/kernels/quantization/quantization.h"

namespace assay::ops {
namespace {

void check_zero_point(const Infer& node) {
  if (!node.is_ranked(1) || !node.is_ranked(2)) return;
  const Dims& scale = node.dims(1);
  const Dims& zero = node.dims(2);
  bool fits = scale.size() == zero.size();
  for (size_t i = 0; fits && i < scale.size(); ++i) {
    fits = !scale[i].is_number() || !zero[i].is_number() || scale[i].equals(zero[i]);
  }
  const bool are_one = product(scale).is(1) && product(zero).is(1);
  if (!fits && !are_one) {
    fail(ErrorCode::shape, "scale and zero point must have one shape, seen {} and {}", text(scale), text(zero));
  }
}

void check_blocks(const Dims& dims, const Dims& scale, size_t axis, int64_t block_size) {
  if (scale.size() != dims.size()) {
    fail(ErrorCode::shape, "a scale of blocks must have the input's rank {}, its shape is {}", dims.size(),
         text(scale));
  }
  for (size_t i = 0; i < dims.size(); ++i) {
    const Dim wanted = i == axis ? ceil_div(dims[i], block_size) : dims[i];
    if (!wanted.is_number() || !scale[i].is_number() || wanted.equals(scale[i])) continue;
    fail(ErrorCode::shape, "the scale of shape {} does not fit shape {} in blocks of {} along axis {}", text(scale),
         text(dims), block_size, axis);
  }
}

}  // namespace

void check_scale(const Infer& node) {
  check_zero_point(node);
  const int64_t block_size = node.integer("block_size", 0);
  if (block_size < 0) fail(ErrorCode::shape, "attribute `block_size` must not be negative, it is {}", block_size);
  if (!node.is_ranked(0) || !node.is_ranked(1)) return;
  const Dims& scale = node.dims(1);
  if (scale.empty()) return;
  const Dims& dims = node.dims(0);
  if (block_size > 0) {
    const auto axis = static_cast<size_t>(normalize_axis(node.integer("axis", 1), node.rank(0)));
    return check_blocks(dims, scale, axis, block_size);
  }
  if (product(scale).is(1)) return;
  if (scale.size() != 1) fail(ErrorCode::shape, "the scale must be a scalar or a list, its shape is {}", text(scale));
  if (node.version() < 13) fail(ErrorCode::shape, "the scale must be a scalar, its shape is {}", text(scale));
  if (!scale[0].is_number()) return;
  const auto axis = static_cast<size_t>(normalize_axis(node.integer("axis", 1), node.rank(0)));
  unify(dims[axis], scale[0], "dims along the axis and scales");
}

ScalePlaces::ScalePlaces(const Eval& node) {
  const auto block_size = static_cast<uint64_t>(node.integer("block_size", 0));
  is_one_ = node.count(1) == 1;
  if (is_one_ || node.count(0) == 0) return;
  const int64_t axis = normalize_axis(node.integer("axis", 1), node.rank(0));
  view_ = view_axis(node.shape(0), axis);
  is_blocked_ = block_size != 0;
  if (!is_blocked_) return;
  block_size_ = block_size;
  blocks_ = static_cast<uint64_t>(node.shape(1)[static_cast<size_t>(axis)]);
}

}  // namespace assay::ops
