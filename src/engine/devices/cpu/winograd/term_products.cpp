#include "engine/devices/cpu/winograd/term_products.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/core.h>

#include "base/parallel.h"
#include "engine/devices/cpu/parts.h"
#include "engine/devices/cpu/rows/floats.h"
#include "engine/devices/cpu/rows/row_kernels.h"
#include "engine/devices/cpu/winograd/weights.h"
#include "engine/devices/cpu/words/word_panels.h"

namespace assay::engine::cpu {
namespace {

// A term of a weight.
void put(double term, float* to) { *to = static_cast<float>(term); }
void put(double term, uint16_t* to) {
  const auto number = static_cast<float>(term);
  row_kernels().narrow(&number, to, 1);
}
void put(double term, int16_t* to) { *to = static_cast<int16_t>(term); }

// The number of terms in a word.
int64_t terms_of_word(tensor::DType weights) { return weights == tensor::DType::int8 ? 2 : numbers_of_word(weights); }

}  // namespace

TermProducts::TermProducts(PackedWeights& packed, const tensor::Tensor& weights, const WinogradForm& form,
                           const TileKernels& kernels)
    : terms_(static_cast<int64_t>(form.terms())),
      channels_(weights.shape()[1]),
      out_channels_(weights.shape()[0]),
      word_(terms_of_word(weights.dtype())),
      kernels_(kernels),
      panel_columns_(static_cast<int64_t>(kernels_.width * kernels_.most_vectors)),
      weights_(pack(packed, weights, form)) {}

size_t TermProducts::chain_of(int64_t channels) {
  return static_cast<size_t>(std::ceil(std::sqrt(static_cast<double>(channels))));
}

std::string TermProducts::packed_form(const WinogradForm& form, const TileKernels& kernels) {
  return fmt::format("winograd {} {} panels {}", form.stride, form.out, kernels.width * kernels.most_vectors);
}

Buffer TermProducts::pack(PackedWeights& packed, const tensor::Tensor& weights, const WinogradForm& form) const {
  const auto size = static_cast<uint64_t>(terms_ * channels_ * out_channels_) * sizeof(float);
  return packed.get(weights, packed_form(form, kernels_), size / static_cast<uint64_t>(word_), [&](std::byte* bytes) {
    if (weights.dtype() == tensor::DType::int8) return put_all(weights, form, reinterpret_cast<int16_t*>(bytes));
    word_ == 1 ? put_all(weights, form, reinterpret_cast<float*>(bytes))
               : put_all(weights, form, reinterpret_cast<uint16_t*>(bytes));
  });
}

template <typename Number>
void TermProducts::put_all(const tensor::Tensor& weights, const WinogradForm& form, Number* to) const {
  const std::byte* const from = weights.bytes().data();
  parallel_for(static_cast<uint64_t>(panel_count() * channels_), 1, [&](uint64_t item, uint64_t) {
    const int64_t panel = static_cast<int64_t>(item) / channels_;
    const int64_t channel = static_cast<int64_t>(item) % channels_;
    const int64_t first = panel * panel_columns_;
    const int64_t columns = columns_of(panel);
    for (int64_t column = 0; column < columns; ++column) {
      const int64_t window = (first + column) * channels_ + channel;
      const WinogradTerms terms = winograd_weights(form, window_of(weights.dtype(), from, window).data());
      Number* const out =
          to + first * terms_ * channels_ + (channel / word_ * columns + column) * word_ + channel % word_;
      for (int64_t term = 0; term < terms_; ++term)
        put(terms[static_cast<size_t>(term)], out + term * channels_ * columns);
    }
  });
}

void TermProducts::run(int64_t panel, const float* terms, int64_t tiles, float* products) const {
  const int64_t words = channels_ / word_;
  std::array<const float*, kMostTiles> places{};
  for (int64_t i = 0; i < tiles; ++i) places[static_cast<size_t>(i)] = terms + i * terms_ * words;
  const int64_t columns = columns_of(panel);
  const auto vectors = static_cast<size_t>(columns) / kernels_.width;
  const auto most = static_cast<int64_t>(kernels_.most_rows(vectors));
  const auto* const weights = host<const float>(weights_.first) + panel * panel_columns_ * terms_ * words;
  Tile tile{{.places = places.data(),
             .rows = static_cast<size_t>(tiles),
             .depth = static_cast<size_t>(words),
             .chain = chain_of(channels_)},
            {.ahead_step = static_cast<size_t>(parts_of(columns, parts_of(tiles, most)) * 4)},
            {.sums_row = terms_ * columns}};
  for (int64_t term = 0; term < terms_; ++term) {
    tile.panel = weights + term * words * columns;
    tile.first = term * words;
    tile.sums = products + term * columns;
    tile.ahead = tile.panel + words * columns;  // of the next term, or panel
    kernels_.multiply(tile, vectors);
  }
}

}  // namespace assay::engine::cpu
