#include "engine/devices/cpu/winograd/term_products.h"

#include <algorithm>
#include <array>

#include <fmt/core.h>

#include "base/parallel.h"
#include "engine/devices/cpu/parts.h"
#include "engine/devices/cpu/winograd/weights.h"

namespace assay::engine::cpu {
namespace {

constexpr int64_t kWindow = 9;  // weights

}  // namespace

TermProducts::TermProducts(PackedWeights& packed, const tensor::Tensor& weights, const WinogradForm& form,
                           const TileKernels& kernels)
    : terms_(static_cast<int64_t>(form.terms())),
      channels_(weights.shape()[1]),
      out_channels_(weights.shape()[0]),
      kernels_(kernels),
      panel_columns_(static_cast<int64_t>(kernels_.width * kernels_.most_vectors)),
      weights_(pack(packed, weights, form)) {}

PackedWeights::Bytes TermProducts::pack(PackedWeights& packed, const tensor::Tensor& weights,
                                        const WinogradForm& form) const {
  const auto size = static_cast<uint64_t>(terms_ * channels_ * out_channels_) * sizeof(float);
  const std::string name = fmt::format("winograd {} {} panels {}", form.stride, form.out, panel_columns_);
  return packed.get(weights, name, size, [&](std::byte* bytes) {
    const auto* const from = reinterpret_cast<const float*>(weights.bytes().data());
    auto* const to = reinterpret_cast<float*>(bytes);
    parallel_for(static_cast<uint64_t>(panel_count() * channels_), 1, [&](uint64_t item, uint64_t) {
      const int64_t panel = static_cast<int64_t>(item) / channels_;
      const int64_t channel = static_cast<int64_t>(item) % channels_;
      const int64_t first = panel * panel_columns_;
      const int64_t columns = columns_of(panel);
      for (int64_t column = 0; column < columns; ++column) {
        const int64_t window = (first + column) * channels_ + channel;
        const std::vector<double> terms = winograd_weights(form, from + window * kWindow);
        float* const out = to + first * terms_ * channels_ + channel * columns + column;
        for (int64_t term = 0; term < terms_; ++term) {
          out[term * channels_ * columns] = static_cast<float>(terms[static_cast<size_t>(term)]);
        }
      }
    });
  });
}

void TermProducts::run(int64_t panel, const float* terms, int64_t tiles, float* products) const {
  std::array<const float*, kMostTiles> places{};
  for (int64_t i = 0; i < tiles; ++i) places[static_cast<size_t>(i)] = terms + i * terms_ * channels_;
  const int64_t columns = columns_of(panel);
  const auto vectors = static_cast<size_t>(columns) / kernels_.width;
  const auto most = static_cast<int64_t>(kernels_.most_rows(vectors));
  const auto* const weights =
      reinterpret_cast<const float*>(weights_.get()) + panel * panel_columns_ * terms_ * channels_;
  Tile tile{.places = places.data(),
            .rows = static_cast<size_t>(tiles),
            .depth = static_cast<size_t>(channels_),
            .sums_row = terms_ * columns,
            .ahead_step = static_cast<size_t>(parts_of(columns, parts_of(tiles, most)) * 4)};
  for (int64_t term = 0; term < terms_; ++term) {
    tile.panel = weights + term * channels_ * columns;
    tile.first = term * channels_;
    tile.sums = products + term * columns;
    tile.ahead = tile.panel + channels_ * columns;  // of the next term, or panel
    kernels_.multiply(tile, vectors);
  }
}

}  // namespace assay::engine::cpu
