#include "compare/measuring/tile.h"

#include <cmath>
#include <complex>
#include <memory>

#include "tensor/casts.h"

namespace assay::compare {
namespace {

void load_magnitudes(const tensor::Tensor& tensor, uint64_t first, std::span<double> out) {
  std::complex<double> numbers[kTile];
  tensor::load_complex(tensor.dtype(), tensor.bytes(), first, std::span(numbers).first(out.size()));
  for (size_t i = 0; i < out.size(); ++i) {
    const bool has_nan = std::isnan(numbers[i].real()) || std::isnan(numbers[i].imag());
    out[i] = has_nan ? std::numeric_limits<double>::quiet_NaN() : std::abs(numbers[i]);  // abs may say infinity
  }
}

}  // namespace

void load_tile(const tensor::Tensor& tensor, const TileKernels& kernels, uint64_t tile, double* out) {
  const uint64_t first = tile * kTile;
  const uint64_t size = tile_size(tensor.count(), tile);
  if (tensor.dtype() == tensor::DType::float32 && size == kTile) {
    return kernels.widen(reinterpret_cast<const float*>(tensor.bytes().data()) + first, out);
  }
  if (tensor::kind(tensor.dtype()) == tensor::DTypeKind::complex) {
    load_magnitudes(tensor, first, {out, size});
  } else {
    tensor::load(tensor.dtype(), tensor.bytes(), first, std::span(out, size));
  }
  std::fill(out + size, out + kTile, 0.0);
}

bool add_tile(const Tile& tile, size_t which, uint64_t number, const TileKernels& kernels, Series& series) {
  const bool is_difference = which >= 2;
  if (tile.size == kTile) {
    TileSums sums;
    kernels.summarize(tile.series[which], !is_difference, sums);
    if (is_exact(sums)) {
      series.add(number, sums);
      return true;
    }
  }
  series.add_each(number, tile.elements(which));
  return false;
}

Series add_up(const TileSource& source, size_t which, FunctionRef<void(uint64_t number, const Tile& tile)> see) {
  const auto piece = [&](uint64_t begin, uint64_t end) {
    Series series;
    const std::unique_ptr<Tile> tile = std::make_unique<Tile>();
    for (uint64_t number = begin; number < end; ++number) {
      source.load(number, *tile);
      add_tile(*tile, which, number, tile_kernels().front(), series);
      see(number, *tile);
    }
    return series;
  };
  const auto append = [](Series series, const Series& next) {
    series.append(next);
    return series;
  };
  const uint64_t tiles = source.tile_count();
  return parallel_reduce(tiles, tiles_a_piece(tiles), Series(), piece, append);
}

}  // namespace assay::compare
