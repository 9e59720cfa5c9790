#include "compare/measuring/pair_reader.h"

#include <algorithm>
#include <cmath>
#include <complex>

#include "base/error.h"
#include "compare/measuring/exact_difference.h"
#include "compare/measuring/ulp.h"
#include "tensor/casts.h"

namespace assay::compare {
namespace {

using tensor::DType;
using tensor::DTypeKind;

constexpr double kZeroReference = 2.220446049250313e-16;

bool is_whole(DType dtype) { return tensor::is_integer(dtype) || dtype == DType::boolean; }

// The elements of a tensor, also of a mapped file, in which they may lie at any address.
template <typename Element>
const Element* elements(const tensor::Tensor& tensor) {
  return reinterpret_cast<const Element*>(tensor.bytes().data());
}

using ComplexTile = std::complex<double>[kTile];

// Real numbers too.
void load_complex_tile(const tensor::Tensor& tensor, uint64_t first, std::span<std::complex<double>> out) {
  if (tensor::kind(tensor.dtype()) == DTypeKind::complex) {
    return tensor::load_complex(tensor.dtype(), tensor.bytes(), first, out);
  }
  double parts[kTile];
  tensor::load(tensor.dtype(), tensor.bytes(), first, std::span(parts).first(out.size()));
  std::copy_n(parts, out.size(), out.begin());
}

}  // namespace

PairReader::PairReader(const tensor::Tensor& a, const tensor::Tensor& b, const Bounds& bounds, bool infinities_equal)
    : a_(a), b_(b), bounds_(bounds), infinities_equal_(infinities_equal), kernels_(&tile_kernels().front()) {
  for (const DType dtype : {a.dtype(), b.dtype()}) {
    const DTypeKind kind = tensor::kind(dtype);
    if (kind == DTypeKind::string || kind == DTypeKind::none) {
      fail(ErrorCode::unsupported, "elements of `{}` and `{}` cannot be compared as numbers", tensor::name(a.dtype()),
           tensor::name(b.dtype()));
    }
    if (kind == DTypeKind::complex) kind_ = Kind::complex;
  }
  if (kind_ != Kind::complex && is_whole(a.dtype()) && is_whole(b.dtype())) {
    const bool wide = tensor::bit_width(a.dtype()) == 64 || tensor::bit_width(b.dtype()) == 64;
    kind_ = wide ? Kind::wide_integers : Kind::narrow_integers;
  }
  bounds_.zero_reference = is_whole(b.dtype()) ? 0 : kZeroReference;
  ulp_type_ = ulp_type(a.dtype(), b.dtype());
}

void PairReader::subtract(uint64_t number, Tile& tile) const {
  double* difference = tile.series[kAbsolute];
  if (kind_ == Kind::wide_integers) {
    exact_difference(a_, b_, number * kTile, {difference, tile.size});
    std::fill(difference + tile.size, difference + kTile, 0.0);
  } else if (kind_ == Kind::complex) {
    ComplexTile x = {}, y = {};
    load_complex_tile(a_, number * kTile, std::span(x).first(tile.size));
    load_complex_tile(b_, number * kTile, std::span(y).first(tile.size));
    for (uint64_t i = 0; i < kTile; ++i) difference[i] = std::abs(x[i] - y[i]);
  } else {
    kernels_->subtract(tile.series[kSideA], tile.series[kSideB], difference);
  }
  if (!infinities_equal_ || kind_ == Kind::complex) return;
  for (uint64_t i = 0; i < tile.size; ++i) {
    const double x = tile.series[kSideA][i];
    if (std::isinf(x) && x == tile.series[kSideB][i]) difference[i] = 0;
  }
}

double PairReader::complex_dot(uint64_t number, uint64_t size, std::array<double, 2> scales) const {
  ComplexTile x, y;
  load_complex_tile(a_, number * kTile, std::span(x).first(size));
  load_complex_tile(b_, number * kTile, std::span(y).first(size));
  double dot = 0;
  for (uint64_t i = 0; i < size; ++i) {
    x[i] *= scales[0];
    y[i] *= scales[1];
    dot += x[i].real() * y[i].real() + x[i].imag() * y[i].imag();
  }
  return dot;
}

double PairReader::scaled_dot(uint64_t number, const Tile& tile, std::array<double, 2> scales) const {
  if (kind_ == Kind::complex) return complex_dot(number, tile.size, scales);
  double dot = 0;
  for (uint64_t i = 0; i < tile.size; ++i) {
    dot += (tile.series[kSideA][i] * scales[0]) * (tile.series[kSideB][i] * scales[1]);
  }
  return dot;
}

TileRelation PairReader::load(uint64_t number, Tile& tile) const {
  tile.size = tile_size(a_.count(), number);
  load_tile(a_, *kernels_, number, tile.series[kSideA]);
  load_tile(b_, *kernels_, number, tile.series[kSideB]);
  subtract(number, tile);
  const double* const abd[3] = {tile.series[kSideA], tile.series[kSideB], tile.series[kAbsolute]};
  TileRelation relation = kernels_->relate(abd, bounds_, tile.series[kRelative]);
  const bool padding_fails = !(0 <= bounds_.atol) && !(0 <= bounds_.rtol);
  if (padding_fails) relation.failed -= kTile - tile.size;
  if (kind_ == Kind::complex) relation.dot = complex_dot(number, tile.size, {1, 1});
  return relation;
}

// True if the tile needs no conversion to be surveyed: of floating numbers, those whose ULPs need none.
bool PairReader::can_survey(uint64_t number) const {
  if (tile_size(a_.count(), number) != kTile) return false;
  if (kind_ == Kind::floating) return a_.dtype() == b_.dtype() && tensor::bit_width(a_.dtype()) >= 16;
  return kind_ == Kind::narrow_integers;
}

void PairReader::survey_tile(uint64_t number, PairSums& sums) const {
  const uint64_t first = number * kTile;
  if (is_float32()) {
    return kernels_->survey32(elements<float>(a_) + first, elements<float>(b_) + first, bounds_, sums);
  }
  if (a_.dtype() == DType::float64 && b_.dtype() == DType::float64) {
    return kernels_->survey64(elements<double>(a_) + first, elements<double>(b_) + first, bounds_, sums);
  }
  alignas(64) double x[kTile], y[kTile];
  load_tile(a_, *kernels_, number, x);
  load_tile(b_, *kernels_, number, y);
  kernels_->survey64(x, y, bounds_, sums);
}

bool PairReader::is_float32() const { return a_.dtype() == DType::float32 && b_.dtype() == DType::float32; }

std::array<bool, kMostSeries> PairReader::exact_codes() const {
  return {has_exact_codes(a_), has_exact_codes(b_), false, false};
}

bool PairReader::survey(uint64_t number, PairSums& sums, uint64_t& max_ulp, PairCodes* codes) const {
  if (!can_survey(number)) return false;
  if (codes != nullptr) codes->tile = {};
  if (codes != nullptr && is_float32()) {
    const float* const a = elements<float>(a_) + number * kTile;
    const float* const b = elements<float>(b_) + number * kTile;
    kernels_->survey_codes(a, b, bounds_, sums, {codes->differences[0], codes->differences[1]});
    // a difference of at most half the reference needs no rounding (Sterbenz)
    const bool is_exact = sums.series[kRelative].greatest <= 0.5;
    codes->tile = {{a, b, codes->differences[0], codes->differences[1]}, {true, true, is_exact, false}};
  } else {
    survey_tile(number, sums);
  }
  for (const TileSums& series : sums.series) {
    if (!std::isfinite(series.squares)) return false;
  }
  max_ulp = kind_ == Kind::floating ? max_ulp_as_stored(a_, b_, number, *kernels_)
                                    : static_cast<uint64_t>(sums.series[kAbsolute].greatest);
  return true;
}

uint64_t PairReader::max_ulp(uint64_t number, const Tile& tile, bool finite) const {
  switch (kind_) {
    case Kind::floating:
      return max_ulp_of_floats({a_, b_, ulp_type_, finite}, number, tile, *kernels_);
    case Kind::wide_integers:
      return max_exact_difference(a_, b_, number * kTile, tile.size);
    case Kind::narrow_integers:
      return static_cast<uint64_t>(*std::ranges::max_element(tile.elements(kAbsolute)));
    case Kind::complex:
      break;
  }
  return 0;
}

}  // namespace assay::compare
