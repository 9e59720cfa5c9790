#include "ops/kernels/product/matrix_product.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <utility>
#include <vector>

#include "base/parallel.h"
#include "ops/kernels/product/product_blocks.h"
#include "ops/kernels/product/product_pack.h"
#include "ops/kernels/product/product_tile.h"

namespace assay::ops {
namespace {

// True if products of this thread are of float32.
bool& uses_floats() {
  thread_local bool uses = false;
  return uses;
}

// The memory of one block at work: packed items of both sides, partial sums, one row on its way out.
template <typename T>
struct Scratch {
  ScratchArray<T> narrow, wide, sums;
  ScratchArray<double> row;
};

// Scratches that wait to be used again by the next block.
template <typename T>
class ScratchShelf {
 public:
  explicit ScratchShelf(const BlockPlan& plan) : plan_(plan) {}

  std::unique_ptr<Scratch<T>> take() {
    const std::lock_guard lock(mutex_);
    if (shelf_.empty()) return std::make_unique<Scratch<T>>(make());
    std::unique_ptr<Scratch<T>> taken = std::move(shelf_.back());
    shelf_.pop_back();
    return taken;
  }
  void give_back(std::unique_ptr<Scratch<T>> scratch) {
    const std::lock_guard lock(mutex_);
    shelf_.push_back(std::move(scratch));
  }

 private:
  Scratch<T> make() const {
    return {ScratchArray<T>(plan_.narrow_elements()), ScratchArray<T>(plan_.wide_elements()),
            ScratchArray<T>(plan_.sums_elements()), ScratchArray<double>(kMostItems)};
  }

  const BlockPlan& plan_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Scratch<T>>> shelf_;
};

// One block of C. The sums are kept by panels of wide items; in a panel, each narrow item has its lanes in a row.
template <typename T>
class Block {
 public:
  Block(const TileOf<T>& tile, const BlockPlan& plan, uint64_t index, Scratch<T>& scratch)
      : tile_(tile), plan_(plan), narrow_(plan.narrow_range(index)), wide_(plan.wide_range(index)), scratch_(scratch) {}

  void compute(ReadRow a, ReadRow b);
  void write(WriteRow c);

 private:
  uint64_t lanes() const { return plan_.tile.columns; }
  void pack(ReadRow a, ReadRow b, Range depth);
  void multiply(uint64_t depth);
  void write_wide_in_rows(WriteRow c);
  void write_narrow_in_rows(WriteRow c);

  const TileOf<T>& tile_;
  const BlockPlan& plan_;
  const Range narrow_;
  const Range wide_;
  Scratch<T>& scratch_;
};

template <typename T>
void Block<T>::compute(ReadRow a, ReadRow b) {
  const uint64_t panels = (wide_.count() + lanes() - 1) / lanes();
  std::fill_n(scratch_.sums.data(), panels * lanes() * narrow_.count(), T{0});
  for (uint64_t k = 0; k < plan_.size.depth; k += plan_.depth) {
    const Range depth{k, std::min(k + plan_.depth, plan_.size.depth)};
    pack(a, b, depth);
    multiply(depth.count());
  }
}

template <typename T>
void Block<T>::pack(ReadRow a, ReadRow b, Range depth) {
  const Panels narrow{plan_.tile.rows, false};
  const Panels wide{lanes(), true};
  if (plan_.wide_is_rows) {
    pack_item_rows(a, wide, wide_, depth, scratch_.wide.data());
    pack_item_columns(b, narrow, narrow_, depth, scratch_.narrow.data());
    return;
  }
  pack_item_rows(a, narrow, narrow_, depth, scratch_.narrow.data());
  if (plan_.streamed) {
    read_item_columns(b, plan_.stream_stride(), wide_, depth, scratch_.wide.data());
  } else {
    pack_item_columns(b, wide, wide_, depth, scratch_.wide.data());
  }
}

template <typename T>
void Block<T>::multiply(uint64_t depth) {
  const uint64_t stride = plan_.streamed ? plan_.stream_stride() : lanes();
  const uint64_t panel_step = plan_.streamed ? 1 : depth;
  for (uint64_t w = 0; w < wide_.count(); w += lanes()) {
    T* sums = scratch_.sums.data() + w * narrow_.count();
    for (uint64_t n = 0; n < narrow_.count(); n += plan_.tile.rows) {
      const uint64_t rows = std::min(plan_.tile.rows, narrow_.count() - n);
      tile_.kernels[rows - 1](scratch_.narrow.data() + n * depth, scratch_.wide.data() + w * panel_step, stride, depth,
                              sums + n * lanes());
    }
  }
}

// One NaN for all: the NaN that an addition of NaNs gives differs between processors and compilers.
double with_one_nan(double value) { return value == value ? value : std::numeric_limits<double>::quiet_NaN(); }

template <typename T>
void Block<T>::write(WriteRow c) {
  if (plan_.wide_is_rows) {
    write_wide_in_rows(c);
  } else {
    write_narrow_in_rows(c);
  }
}

template <typename T>
void Block<T>::write_wide_in_rows(WriteRow c) {
  double* row = scratch_.row.data();
  for (uint64_t w = 0; w < wide_.count(); ++w) {
    const T* sums = scratch_.sums.data() + (w - w % lanes()) * narrow_.count() + w % lanes();
    for (uint64_t n = 0; n < narrow_.count(); ++n) row[n] = with_one_nan(sums[n * lanes()]);
    c(wide_.begin + w, narrow_.begin, {row, narrow_.count()});
  }
}

template <typename T>
void Block<T>::write_narrow_in_rows(WriteRow c) {
  double* row = scratch_.row.data();
  for (uint64_t n = 0; n < narrow_.count(); ++n) {
    for (uint64_t w = 0; w < wide_.count(); w += lanes()) {
      const T* sums = scratch_.sums.data() + w * narrow_.count() + n * lanes();
      const uint64_t held = std::min(lanes(), wide_.count() - w);
      for (uint64_t lane = 0; lane < held; ++lane) row[w + lane] = with_one_nan(sums[lane]);
    }
    c(narrow_.begin + n, wide_.begin, {row, wide_.count()});
  }
}

}  // namespace

template <typename T>
void matrix_product_by(const TileOf<T>& tile, const ProductSize& size, ReadRow a, ReadRow b, WriteRow c) {
  if (size.rows == 0 || size.columns == 0) return;
  const BlockPlan plan = plan_blocks(tile.size(), size, thread_count());
  ScratchShelf<T> shelf(plan);
  parallel_for(plan.blocks(), 1, [&](uint64_t index, uint64_t) {
    std::unique_ptr<Scratch<T>> scratch = shelf.take();
    Block<T> block(tile, plan, index, *scratch);
    block.compute(a, b);
    block.write(c);
    shelf.give_back(std::move(scratch));
  });
}

template void matrix_product_by(const Tile&, const ProductSize&, ReadRow, ReadRow, WriteRow);
template void matrix_product_by(const FloatTile&, const ProductSize&, ReadRow, ReadRow, WriteRow);

void matrix_product(const ProductSize& size, ReadRow a, ReadRow b, WriteRow c) {
  if (uses_floats()) return matrix_product_by(float_tiles().front(), size, a, b, c);
  matrix_product_by(tiles().front(), size, a, b, c);
}

FloatProducts::FloatProducts() : outer_(std::exchange(uses_floats(), true)) {}
FloatProducts::~FloatProducts() { uses_floats() = outer_; }

}  // namespace assay::ops
