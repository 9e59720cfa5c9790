#include "engine/devices/cpu/tiles/tile_division.h"

#include <algorithm>

#include "base/parallel.h"
#include "engine/devices/cpu/parts.h"

namespace assay::engine::cpu {
namespace {

constexpr int64_t kPartDepth = 768;                       // of constants that are read again for each tile
constexpr int64_t kBlockBytes = int64_t{400} * 1024;      // of the rows that are read again for each panel
constexpr int64_t kPieceWork = int64_t{6} * 1000 * 1000;  // multiplications
constexpr int64_t kLeastRows = 40;                        // of a piece
constexpr int64_t kUsualRows = 128;                       // where less work than that of a piece would be left

}  // namespace

bool TileDivision::can_divide(int64_t steps) { return steps * kUsualRows / 2 <= kMostPlaces; }

TileDivision::TileDivision(const TileWork& work, const TileKernels& kernels)
    : work_(work),
      panel_vectors_(work.vectors == 0 ? kernels.most_vectors : work.vectors),
      panel_columns_(static_cast<int64_t>(kernels.width * panel_vectors_)),
      panel_count_(parts_of(work.columns, panel_columns_)) {
  divide_depth();
  divide_result(kernels);
}

void TileDivision::divide_depth() {
  if (work_.depth < kPartDepth) {
    const int64_t most = std::max<int64_t>(1, kPartDepth / work_.depth);
    const int64_t count = parts_of(work_.steps, most);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t begin = i * work_.steps / count;
      parts.push_back({begin, (i + 1) * work_.steps / count - begin, 0, work_.depth});
    }
    return;
  }
  const int64_t count = parts_of(work_.depth, kPartDepth);
  for (int64_t step = 0; step < work_.steps; ++step) {
    for (int64_t i = 0; i < count; ++i) {
      const int64_t begin = i * work_.depth / count;
      parts.push_back({step, 1, begin, (i + 1) * work_.depth / count - begin});
    }
  }
}

// Panels so that threads get equally many, rows so that they stay in the second cache.
void TileDivision::divide_result(const TileKernels& kernels) {
  const auto threads = static_cast<int64_t>(thread_count());
  const auto longest = [&](int64_t panels) { return parts_of(parts_of(panel_count_, panels), threads) * panels; };
  for (int64_t panels = 1; panels <= std::min(work_.most_panels, panel_count_); ++panels) {
    if (longest(panels) <= longest(block_panels_)) block_panels_ = panels;
  }
  const int64_t groups = parts_of(panel_count_, block_panels_);
  const int64_t depth = work_.steps * work_.depth;
  const int64_t read_depth = parts.front().steps * parts.front().depth;
  const auto step = static_cast<int64_t>(kernels.most_rows(panel_vectors_));
  int64_t most =
      std::min(kBlockBytes / (read_depth * static_cast<int64_t>(sizeof(float))), kMostPlaces / work_.steps - step);
  const bool keeps_sums = work_.most_sums > 0 && (work_.keeps_sums || parts.size() > 1);
  if (keeps_sums) most = std::min(most, work_.most_sums / (block_panels_ * panel_columns_) - step);
  const int64_t wanted = std::max(kUsualRows, kPieceWork / (depth * block_panels_ * panel_columns_));
  const int64_t rows = std::max(kLeastRows, std::min(most, wanted));
  int64_t blocks = parts_of(work_.rows, rows);
  if (groups % threads != 0) blocks = rounded_up(blocks, threads);
  block_rows_ = rounded_up(parts_of(work_.rows, blocks), step);
}

void TileDivision::run(FunctionRef<void(const Piece& piece)> fn) const {
  const int64_t groups = parts_of(panel_count_, block_panels_);
  const int64_t blocks = parts_of(work_.rows, block_rows_);
  const bool has_more_rows = work_.rows > work_.columns;  // the larger operand is read once
  parallel_for(static_cast<uint64_t>(groups * blocks), 1, [&](uint64_t begin, uint64_t end) {
    for (auto i = static_cast<int64_t>(begin); i < static_cast<int64_t>(end); ++i) {
      const int64_t row = (has_more_rows ? i / groups : i % blocks) * block_rows_;
      const int64_t panel = (has_more_rows ? i % groups : i / blocks) * block_panels_;
      fn({row, std::min(block_rows_, work_.rows - row), panel, std::min(block_panels_, panel_count_ - panel)});
    }
  });
}

}  // namespace assay::engine::cpu
