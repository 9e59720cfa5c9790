#include "compare/difference_reader.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include "base/error.h"
#include "tensor/casts.h"

namespace assay::compare {
namespace {

using tensor::DType;
using tensor::DTypeKind;

bool is_fill(const tensor::Tensor& tensor) {
  return tensor.storage() != nullptr && !tensor.storage()->fill_pattern().empty() &&
         tensor::bit_width(tensor.dtype()) >= 8;
}

bool is_whole(DType dtype) { return tensor::is_integer(dtype) || dtype == DType::boolean; }

void load_complex_elements(DType dtype, tensor::Bytes bytes, uint64_t first, std::span<std::complex<double>> out) {
  if (tensor::kind(dtype) == DTypeKind::complex) return tensor::load_complex(dtype, bytes, first, out);
  double reals[DifferenceReader::kMostElements];
  tensor::load(dtype, bytes, first, std::span(reals).first(out.size()));
  std::copy_n(reals, out.size(), out.begin());
}

}  // namespace

DifferenceReader::DifferenceReader(const tensor::Tensor& a, const tensor::Tensor& b, bool infinities_equal)
    : is_constant_(is_fill(a) && is_fill(b) && a.count() > 0),
      infinities_equal_(infinities_equal),
      count_(is_constant_ ? 1 : a.count()),
      a_(side(a)),
      b_(side(b)),
      zero_reference_(is_whole(b.dtype()) ? 0 : std::numeric_limits<double>::epsilon()) {}

DifferenceReader::Side DifferenceReader::side(const tensor::Tensor& tensor) const {
  const DTypeKind kind = tensor::kind(tensor.dtype());
  if (kind == DTypeKind::string || kind == DTypeKind::none) {
    fail(ErrorCode::unsupported, "elements of `{}` cannot be drawn", tensor::name(tensor.dtype()));
  }
  return {tensor.dtype(), is_constant_ ? tensor.storage()->fill_pattern() : tensor.bytes()};
}

void DifferenceReader::read(uint64_t first, uint64_t size, Piece& piece) const {
  if (tensor::kind(a_.dtype) == DTypeKind::complex || tensor::kind(b_.dtype) == DTypeKind::complex) {
    read_complex(first, size, piece);
  } else if (tensor::kind(a_.dtype) == tensor::kind(b_.dtype) && is_whole(b_.dtype)) {
    read_integers(first, size, piece);
  } else {
    read_reals(first, size, piece);
  }
  for (uint64_t i = 0; i < size; ++i) {
    const double reference = piece.magnitude[i] == 0 ? zero_reference_ : piece.magnitude[i];
    piece.relative[i] = piece.absolute[i] == 0 ? 0 : piece.absolute[i] / reference;
  }
}

void DifferenceReader::read_reals(uint64_t first, uint64_t size, Piece& piece) const {
  tensor::load(a_.dtype, a_.bytes, first, std::span(piece.absolute).first(size));
  tensor::load(b_.dtype, b_.bytes, first, std::span(piece.magnitude).first(size));
  for (uint64_t i = 0; i < size; ++i) {
    const double x = piece.absolute[i];
    const double y = piece.magnitude[i];
    piece.absolute[i] = infinities_equal_ && x == y ? 0 : std::abs(x - y);
    piece.magnitude[i] = std::abs(piece.magnitude[i]);
  }
}

// The difference of 64-bit numbers may be lost in doubles.
void DifferenceReader::read_integers(uint64_t first, uint64_t size, Piece& piece) const {
  const auto subtract = [&](auto(&x)[kMostElements], auto(&y)[kMostElements]) {
    tensor::load(a_.dtype, a_.bytes, first, std::span(x).first(size));
    tensor::load(b_.dtype, b_.bytes, first, std::span(y).first(size));
    for (uint64_t i = 0; i < size; ++i) {
      const uint64_t forth = static_cast<uint64_t>(x[i]) - static_cast<uint64_t>(y[i]);
      piece.absolute[i] = static_cast<double>(x[i] > y[i] ? forth : -forth);
      piece.magnitude[i] = std::abs(static_cast<double>(y[i]));
    }
  };
  if (tensor::kind(b_.dtype) == DTypeKind::signed_integer) {
    int64_t x[kMostElements], y[kMostElements];
    subtract(x, y);
  } else {
    uint64_t x[kMostElements], y[kMostElements];
    subtract(x, y);
  }
}

void DifferenceReader::read_complex(uint64_t first, uint64_t size, Piece& piece) const {
  std::complex<double> x[kMostElements], y[kMostElements];
  load_complex_elements(a_.dtype, a_.bytes, first, std::span(x).first(size));
  load_complex_elements(b_.dtype, b_.bytes, first, std::span(y).first(size));
  for (uint64_t i = 0; i < size; ++i) {
    piece.absolute[i] = std::abs(x[i] - y[i]);
    piece.magnitude[i] = std::abs(y[i]);
  }
}

}  // namespace assay::compare
