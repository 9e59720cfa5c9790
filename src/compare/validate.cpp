#include "compare/validate.h"

#include <cmath>
#include <memory>

#include "compare/measuring/tile.h"
#include "tensor/index.h"

namespace assay::compare {
namespace {

constexpr uint64_t kNowhere = std::numeric_limits<uint64_t>::max();

struct Counts {
  uint64_t nans = 0;
  uint64_t infinities = 0;
  uint64_t first_nan = kNowhere;
  uint64_t first_infinity = kNowhere;
};

void count_each(std::span<const double> elements, uint64_t first, Counts& counts) {
  for (size_t i = 0; i < elements.size(); ++i) {
    if (std::isnan(elements[i])) {
      if (counts.nans++ == 0) counts.first_nan = first + i;
    } else if (std::isinf(elements[i])) {
      if (counts.infinities++ == 0) counts.first_infinity = first + i;
    }
  }
}

// 0 * x is 0 for what is finite and NaN for all else.
bool may_have_specials(const double (&elements)[kTile]) {
  double lanes[kLanes] = {};
  for (uint64_t i = 0; i < kTile; i += kLanes) {
    for (uint64_t lane = 0; lane < kLanes; ++lane) lanes[lane] += 0 * elements[i + lane];
  }
  double sum = 0;
  for (const double lane : lanes) sum += lane;
  return !(sum == 0);
}

Counts count_tiles(const tensor::Tensor& tensor, uint64_t begin, uint64_t end) {
  Counts counts;
  const std::unique_ptr<Tile> tile = std::make_unique<Tile>();
  for (uint64_t number = begin; number < end; ++number) {
    load_tile(tensor, tile_kernels().front(), number, tile->series[0]);
    tile->size = tile_size(tensor.count(), number);
    if (may_have_specials(tile->series[0])) count_each(tile->elements(0), number * kTile, counts);
  }
  return counts;
}

Counts add(const Counts& x, const Counts& y) {
  return {x.nans + y.nans, x.infinities + y.infinities, std::min(x.first_nan, y.first_nan),
          std::min(x.first_infinity, y.first_infinity)};
}

}  // namespace

Validity validate(const tensor::Tensor& tensor) {
  const tensor::DTypeKind kind = tensor::kind(tensor.dtype());
  if (kind != tensor::DTypeKind::floating && kind != tensor::DTypeKind::complex) return {};
  const uint64_t tiles = tensor.count() / kTile + (tensor.count() % kTile != 0);
  const auto piece = [&](uint64_t begin, uint64_t end) { return count_tiles(tensor, begin, end); };
  const Counts counts = parallel_reduce(tiles, tiles_a_piece(tiles), Counts(), piece, add);
  Validity validity;
  validity.nan_count = counts.nans;
  validity.inf_count = counts.infinities;
  if (counts.nans != 0) validity.first_nan_at = tensor::index_of(counts.first_nan, tensor.shape());
  if (counts.infinities != 0) validity.first_inf_at = tensor::index_of(counts.first_infinity, tensor.shape());
  return validity;
}

}  // namespace assay::compare
