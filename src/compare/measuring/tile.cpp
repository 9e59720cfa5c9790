#include "compare/measuring/tile.h"

#include <cmath>
#include <complex>
#include <memory>

#include "tensor/casts.h"
#include "tensor/index.h"

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

// Of the first element that equals `x`, or of the first NaN if x is NaN.
uint64_t place_of(double x, std::span<const double> elements) {
  const auto is_it = [x](double element) { return element == x || (std::isnan(x) && std::isnan(element)); };
  return static_cast<uint64_t>(std::ranges::find_if(elements, is_it) - elements.begin());
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

void locate_extremes(const TileSource& source, size_t which, const Series& series, const tensor::Shape& shape,
                     results::TensorStats& stats) {
  if (series.count() == 0) return;
  const std::unique_ptr<Tile> tile = std::make_unique<Tile>();
  const auto locate = [&](uint64_t number, double& x) {
    source.load(number, *tile);
    const uint64_t place = place_of(x, tile->elements(which));
    x = tile->series[which][place];
    return tensor::index_of(number * kTile + place, shape);
  };
  stats.least_at = locate(series.least_tile(), stats.least);
  stats.greatest_at = locate(series.greatest_tile(), stats.greatest);
}

}  // namespace assay::compare
