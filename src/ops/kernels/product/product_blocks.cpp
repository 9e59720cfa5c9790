#include "ops/kernels/product/product_blocks.h"

#include <algorithm>

namespace assay::ops {
namespace {

constexpr uint64_t kMostNarrow = 384;
constexpr uint64_t kMostWide = 768;
constexpr uint64_t kMostStreamed = kMostItems;
constexpr uint64_t kMostStreamedRows = 18;
constexpr uint64_t kStreamDepth = 32;
constexpr uint64_t kLeastNarrow = 48;
constexpr uint64_t kLeastWide = 96;
constexpr double kLeastWork = 250e3;  // products of a block that is worth a thread's attention
constexpr uint64_t kBlocksPerThread = 4;

uint64_t round_up(uint64_t count, uint64_t unit) { return (count + unit - 1) / unit * unit; }

// The step that cuts `items` into equal parts of at most `most`.
uint64_t even_step(uint64_t items, uint64_t most, uint64_t unit) {
  const uint64_t limit = most / unit * unit;
  const uint64_t parts = (items + limit - 1) / limit;
  return round_up((items + parts - 1) / parts, unit);
}

double work(const BlockPlan& plan) {
  return double(plan.narrow_step) * double(plan.wide_step) * double(plan.size.depth);
}

// Cuts the longer side in two; false if both are as short as is good.
bool halve(BlockPlan& plan) {
  const bool narrow_can = plan.narrow_step >= 2 * kLeastNarrow;
  const bool wide_can = plan.wide_step >= 2 * kLeastWide;
  if (!narrow_can && !wide_can) return false;
  const bool narrow = narrow_can && (!wide_can || plan.narrow_step > plan.wide_step);
  uint64_t& step = narrow ? plan.narrow_step : plan.wide_step;
  step = round_up((step + 1) / 2, narrow ? plan.tile.rows : plan.tile.columns);
  return true;
}

// Lanes of the last panel that hold nothing cost as much as the others.
bool better_with_wide_rows(const TileSize& tile, const ProductSize& size) {
  const double with_columns = double(size.rows) * double(round_up(size.columns, tile.columns));
  const double with_rows = double(size.columns) * double(round_up(size.rows, tile.columns));
  return with_rows < 0.95 * with_columns;
}

}  // namespace

Range BlockPlan::narrow_range(uint64_t block) const {
  const uint64_t begin = block % narrow_blocks() * narrow_step;
  return {begin, std::min(begin + narrow_step, narrow_items())};
}

Range BlockPlan::wide_range(uint64_t block) const {
  const uint64_t begin = block / narrow_blocks() * wide_step;
  return {begin, std::min(begin + wide_step, wide_items())};
}

BlockPlan plan_blocks(const TileSize& tile, const ProductSize& size, unsigned threads) {
  BlockPlan plan{tile, size};
  plan.wide_is_rows = better_with_wide_rows(tile, size);
  plan.streamed = !plan.wide_is_rows && size.rows <= kMostStreamedRows;
  plan.narrow_step = even_step(plan.narrow_items(), kMostNarrow, tile.rows);
  plan.wide_step = even_step(plan.wide_items(), plan.streamed ? kMostStreamed : kMostWide, tile.columns);
  const uint64_t wanted = threads == 1 ? 1 : threads * kBlocksPerThread;
  while (plan.blocks() < wanted && work(plan) >= 2 * kLeastWork && halve(plan)) {
  }
  if (size.depth > 0) plan.depth = even_step(size.depth, plan.streamed ? kStreamDepth : kMostDepth, 1);
  return plan;
}

}  // namespace assay::ops
