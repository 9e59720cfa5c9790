#include "ops/kernels/elements/broadcast.h"
#include "ops/kernels/movement/movement.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

constexpr int64_t kMaxBlock = 1 << 24;

int64_t block_of(const Node& node) {
  const int64_t block = node.integer("blocksize");
  if (block < 1 || block > kMaxBlock)
    fail(ErrorCode::shape, "`blocksize` is {}, it must be from 1 to {}", block, kMaxBlock);
  return block;
}

// True if the depth is [block row, block column, channel]; false: [channel, block row, block column].
bool is_depth_first(const Node& node) {
  const std::string_view mode = node.string("mode", "DCR");
  if (mode == "DCR" || mode == "CRD") return mode == "DCR";
  fail(ErrorCode::shape, "there is no mode `{}`", mode);
}

Dim part_of(const Dim& dim, int64_t divisor, std::string_view what) {
  if (dim.is_number() && *dim.number() % divisor != 0) {
    fail(ErrorCode::shape, "{} do not divide into blocks of {}: {}", what, divisor, *dim.number());
  }
  return floor_div(dim, divisor);
}

void infer_depth_to_space(Infer& node) {
  const int64_t block = block_of(node);
  is_depth_first(node);
  node.require_rank(0, 4);
  if (!node.is_ranked(0)) return node.set_dims(0, Dims(4));
  const Dims& dims = node.dims(0);
  node.set_dims(0, {dims[0], part_of(dims[1], block * block, "channels"), dims[2] * Dim(block), dims[3] * Dim(block)});
}

void infer_space_to_depth(Infer& node) {
  const int64_t block = block_of(node);
  is_depth_first(node);
  node.require_rank(0, 4);
  if (!node.is_ranked(0)) return node.set_dims(0, Dims(4));
  const Dims& dims = node.dims(0);
  node.set_dims(0, {dims[0], dims[1] * Dim(block) * Dim(block), part_of(dims[2], block, "rows"),
                    part_of(dims[3], block, "columns")});
}

// The input seen with six axes, these put in another order.
void move_six(Eval& node, const Shape& view, const std::vector<size_t>& order) {
  const std::vector<int64_t> strides = row_major_strides(view);
  Shape to;
  std::vector<int64_t> moved;
  for (const size_t axis : order) {
    to.push_back(view[axis]);
    moved.push_back(strides[axis]);
  }
  node.set_tensor(0, reshaped(copy_strided(node.tensor_in(0), to, 0, moved), node.out_shape(0)));
}

void eval_depth_to_space(Eval& node) {
  const int64_t block = block_of(node);
  const Shape& from = node.shape(0);
  const int64_t channels = from[1] / (block * block);
  if (is_depth_first(node)) {
    move_six(node, {from[0], block, block, channels, from[2], from[3]}, {0, 3, 4, 1, 5, 2});
  } else {
    move_six(node, {from[0], channels, block, block, from[2], from[3]}, {0, 1, 4, 2, 5, 3});
  }
}

void eval_space_to_depth(Eval& node) {
  const int64_t block = block_of(node);
  const Shape& from = node.shape(0);
  const Shape view = {from[0], from[1], from[2] / block, block, from[3] / block, block};
  if (is_depth_first(node)) {
    move_six(node, view, {0, 3, 5, 1, 2, 4});
  } else {
    move_six(node, view, {0, 1, 3, 5, 2, 4});
  }
}

}  // namespace

OperatorRows operator_movement_depth_to_space() {
  static constexpr Traits kEachOnce = {Nature::movement, {.moves = Moves::each_once}};
  static constexpr Operator kRows[] = {
      {.name = "DepthToSpace", .traits = kEachOnce, .infer = infer_depth_to_space, .eval = eval_depth_to_space},
      {.name = "SpaceToDepth", .traits = kEachOnce, .infer = infer_space_to_depth, .eval = eval_space_to_depth},
  };
  return kRows;
}

}  // namespace assay::ops
