#pragma once

#include <algorithm>
#include <string>

#include "engine/devices/cpu/tiles/tile_kernels.h"
#include "engine/devices/cpu/winograd/transforms.h"
#include "engine/weights/packed_weights.h"

namespace assay::engine::cpu {

// For each term of a form, the channels of some tiles times [channels, out_channels] of constant weights, a panel of
// columns at a time.
class TermProducts {
 public:
  static constexpr int64_t kMostTiles = 64;  // at once

  // Products of weights [out_channels][channels][3][3], of float32, of bfloat16 and kernels for pairs of it, or of
  // int8, an exact form, and kernels for pairs of 16 bits.
  TermProducts(PackedWeights& packed, const tensor::Tensor& weights, const WinogradForm& form,
               const TileKernels& kernels = tile_kernels());

  // Products of float32 are added in chains of so many (Tile::chain).
  static size_t chain_of(int64_t channels);
  // The name of weights that are packed so.
  static std::string packed_form(const WinogradForm& form, const TileKernels& kernels);
  int64_t panel_count() const { return (out_channels_ + panel_columns_ - 1) / panel_columns_; }
  int64_t panel_columns() const { return panel_columns_; }  // of all panels but the last
  int64_t columns_of(int64_t panel) const { return std::min(panel_columns_, out_channels_ - panel * panel_columns_); }
  // [tiles][term][channel], in words, to [tiles][term][column of the panel].
  void run(int64_t panel, const float* terms, int64_t tiles, float* products) const;

 private:
  Buffer pack(PackedWeights& packed, const tensor::Tensor& weights, const WinogradForm& form) const;
  template <typename Number>
  void put_all(const tensor::Tensor& weights, const WinogradForm& form, Number* to) const;

  int64_t terms_;
  int64_t channels_;
  int64_t out_channels_;
  int64_t word_;  // channels
  const TileKernels& kernels_;
  int64_t panel_columns_;
  Buffer weights_;  // [panel][term][word][column]
};

}  // namespace assay::engine::cpu
