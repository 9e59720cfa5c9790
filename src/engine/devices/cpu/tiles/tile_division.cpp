#include "engine/devices/cpu/tiles/tile_division.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/parallel.h"
#include "engine/devices/cpu/caches.h"
#include "engine/devices/cpu/parts.h"

namespace assay::engine::cpu {
namespace {

constexpr int64_t kPartDepth = 768;                       // of constants that stay in the second cache
constexpr int64_t kBlockBytes = int64_t{400} * 1024;      // of the rows that are read again for each panel
constexpr int64_t kPieceWork = int64_t{6} * 1000 * 1000;  // multiplications
constexpr int64_t kLeastRows = 40;                        // of a piece
constexpr int64_t kLeastEvenRows = 24;                    // likewise, so that threads get equally much
constexpr int64_t kUsualRows = 128;                       // taken if less work than that of a piece would be left
constexpr int64_t kMostWithRows = 16;                     // panels that are computed where rows are
constexpr double kPieceStart = 20'000;                    // multiplications in the time that beginning a piece takes
constexpr double kNearlyEven = 1.02;                      // of what each thread would get at best
constexpr int64_t kMostUneven = 8;                        // pieces for each thread; of more, the last one is short

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

// Constants that a part reads again for each tile stay in the first cache, where that has room for rows and sums
// beside them, and sums stay where they are.
int64_t TileDivision::part_depth() const {
  constexpr uint64_t kLarge = 48 << 10;
  constexpr int64_t kConstantBytes = 32 << 10;
  static const bool is_large = first_cache_bytes() >= kLarge;
  if (!is_large || work_.most_sums > 0) return kPartDepth;
  return kConstantBytes / (panel_columns_ * static_cast<int64_t>(sizeof(float)));
}

void TileDivision::divide_depth() {
  const int64_t longest = part_depth();
  if (work_.depth < longest) {
    const int64_t most = std::max<int64_t>(1, longest / work_.depth);
    const int64_t count = parts_of(work_.steps, most);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t begin = i * work_.steps / count;
      parts.push_back({begin, (i + 1) * work_.steps / count - begin, 0, work_.depth});
    }
    return;
  }
  const int64_t count = parts_of(work_.depth, longest);
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
  const bool are_many = work_.rows >= threads * kUsualRows;
  if (work_.keeps_rows && are_many && panel_count_ <= kMostWithRows) block_panels_ = panel_count_;
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
  even_out(threads, kernels);
}

// Into smaller pieces, where some threads would wait for others.
void TileDivision::even_out(int64_t threads, const TileKernels& kernels) {
  if (threads == 1 || groups() * blocks() > kMostUneven * threads) return;
  const auto width = static_cast<int64_t>(kernels.width);
  const int64_t most_panels = block_panels_;
  const int64_t fewest_blocks = blocks();
  double least = busy(threads, width);
  const double enough = busy(1, width) / static_cast<double>(threads) * kNearlyEven;
  std::pair best(block_panels_, block_rows_);
  for (block_panels_ = most_panels; block_panels_ > 0 && least > enough; --block_panels_) {
    for (int64_t count = fewest_blocks; groups() * count <= kMostUneven * threads && least > enough; ++count) {
      block_rows_ = parts_of(work_.rows, count);
      if (count > 1 && block_rows_ < kLeastEvenRows) break;
      const double taken = busy(threads, width);
      if (taken >= least) continue;
      least = taken;
      best = {block_panels_, block_rows_};
    }
  }
  std::tie(block_panels_, block_rows_) = best;
}

// The work of the thread that works longest, in multiplications.
double TileDivision::busy(int64_t threads, int64_t width) const {
  std::vector<double> taken(static_cast<size_t>(threads));
  for (int64_t i = 0; i < groups() * blocks(); ++i) {
    const Piece given = piece(i);
    const int64_t end = std::min((given.panel + given.panels) * panel_columns_, rounded_up(work_.columns, width));
    const int64_t sums = given.rows * (end - given.panel * panel_columns_);
    *std::ranges::min_element(taken) += kPieceStart + static_cast<double>(sums * work_.steps * work_.depth);
  }
  return *std::ranges::max_element(taken);
}

int64_t TileDivision::groups() const { return parts_of(panel_count_, block_panels_); }
int64_t TileDivision::blocks() const { return parts_of(work_.rows, block_rows_); }

TileDivision::Piece TileDivision::piece(int64_t number) const {
  const bool has_more_rows = work_.rows > work_.columns;  // the larger operand is read once
  const int64_t row = (has_more_rows ? number / groups() : number % blocks()) * block_rows_;
  const int64_t panel = (has_more_rows ? number % groups() : number / blocks()) * block_panels_;
  return {row, std::min(block_rows_, work_.rows - row), panel, std::min(block_panels_, panel_count_ - panel)};
}

void TileDivision::run(FunctionRef<void(const Piece& piece)> fn) const {
  parallel_for(static_cast<uint64_t>(groups() * blocks()), 1, [&](uint64_t begin, uint64_t end) {
    for (uint64_t i = begin; i < end; ++i) fn(piece(static_cast<int64_t>(i)));
  });
}

}  // namespace assay::engine::cpu
