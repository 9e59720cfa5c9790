#pragma once

#include <vector>

#include "base/function_ref.h"
#include "engine/devices/cpu/lanes.h"
#include "engine/devices/cpu/winograd/winograd_plans.h"

namespace assay::engine::cpu {

// The tiles of a layer, in blocks that lanes take as a plan says; what is done with them is the kernel's.
class WinogradWork {
 public:
  // A block's products with a panel. Its terms begin where those of `place` tiles end.
  struct Block {
    int64_t lane;
    Lane tiles;
    int64_t panel, place;
  };
  struct Steps {
    FunctionRef<void(const Lane& tiles, int64_t place)> take_in;
    FunctionRef<void(const Block& block)> multiply;
    FunctionRef<void(const Lane& tiles)> end;  // of a block that was multiplied by all panels; not in stages
  };

  WinogradWork(const ConvGeometry& geometry, const WinogradPlan& plan);

  const WinogradTiles& tiles() const { return tiles_; }
  bool in_stages() const { return in_stages_; }
  int64_t lanes() const { return lanes_; }
  int64_t block() const { return block_; }  // tiles at most
  // The number of tiles whose terms exist at once.
  int64_t places() const { return in_stages_ ? tiles_.count : lanes_ * block_; }
  void run(int64_t panels, const Steps& steps) const;
  void for_lanes(FunctionRef<void(int64_t lane)> fn) const;

  // Finds the pixels of a tile in pictures whose channels are innermost; `outside` for those around them.
  template <typename Number>
  void find_pixels(int64_t tile, const Number* pictures, const Number* outside, const Number** out) const {
    const WinogradTiles::Place at = tiles_.place_of(tile);
    const int64_t top = at.y * g_.stride_y - g_.pad_top;
    const int64_t left = at.x * g_.stride_x - g_.pad_left;
    const int64_t first = ((at.image * g_.height + top) * g_.width + left) * g_.channels;
    const bool is_inside = top >= 0 && left >= 0 && top + side_ <= g_.height && left + side_ <= g_.width;
    for (int64_t i = 0; i < side_ * side_; ++i) {
      const int64_t y = top + i / side_;
      const int64_t x = left + i % side_;
      const bool is_there = is_inside || (y >= 0 && y < g_.height && x >= 0 && x < g_.width);
      out[i] = is_there ? pictures + first + offsets_[static_cast<size_t>(i)] : outside;
    }
  }

 private:
  void run_lanes(int64_t panels, const Steps& steps) const;
  void run_stages(int64_t panels, const Steps& steps) const;

  ConvGeometry g_;
  WinogradTiles tiles_;
  bool in_stages_;
  int64_t side_;
  int64_t lanes_;
  int64_t block_;
  std::vector<int64_t> offsets_;  // of a tile's pixels from its first
};

}  // namespace assay::engine::cpu
