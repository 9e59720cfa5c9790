#include "ops/kernels/elements/fourier.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

namespace assay::ops {
namespace {

using Complex = std::complex<double>;

// exp(2πik/n) for k < n. The angle is brought to the first eighth of the circle, where sine and cosine are most exact.
Complex root(uint64_t k, uint64_t n) {
  const uint64_t eighths = 8 * k / n;
  const uint64_t quarter = (eighths + 1) / 2;  // the nearest
  const auto rest = static_cast<double>(static_cast<int64_t>(4 * k) - static_cast<int64_t>(quarter * n));
  const double angle = std::numbers::pi / 2 * rest / static_cast<double>(n);
  const Complex near(std::cos(angle), std::sin(angle));
  switch (quarter % 4) {
    case 0:
      return near;
    case 1:
      return {-near.imag(), near.real()};
    case 2:
      return -near;
    default:
      return {near.imag(), -near.real()};
  }
}

Complex product(const Complex& a, const Complex& b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

// A complex number in one vector, and the same product.
using Pair [[gnu::vector_size(16)]] = double;

Pair pair_of(const Complex& x) { return std::bit_cast<Pair>(x); }
void store(const Pair& x, Complex& out) { out = std::bit_cast<Complex>(x); }

Pair product(const Pair& a, const Pair& b) {
  constexpr Pair kSigns = {-1, 1};
  const Pair turned = __builtin_shufflevector(a, a, 1, 0);
  return a * __builtin_shufflevector(b, b, 0, 0) + turned * __builtin_shufflevector(b, b, 1, 1) * kSigns;
}

std::vector<uint64_t> prime_factors(uint64_t number) {
  std::vector<uint64_t> factors;
  for (uint64_t factor = 2; number > 1; ++factor) {
    if (factor * factor > number) factor = number;
    for (; number % factor == 0; number /= factor) factors.push_back(factor);
  }
  return factors;
}

}  // namespace

Dim fourier_macs(const Dim& length) {
  if (!length.is_number() || *length.number() < 1) return {};
  Dim sum = 0;
  for (const uint64_t factor : prime_factors(static_cast<uint64_t>(*length.number()))) {
    sum = sum + Dim(static_cast<int64_t>(factor));
  }
  return Dim(4) * length * sum;
}

Fourier::Fourier(uint64_t length, bool inverse) : length_(length), factors_(prime_factors(length)) {
  for (uint64_t k = 0; k < length; ++k) {
    const Complex value = root(k, length);
    roots_.push_back(inverse ? value : std::conj(value));
  }
}

uint64_t Fourier::factor_of(uint64_t length) const {
  return *std::ranges::find_if(factors_, [&](uint64_t factor) { return length % factor == 0; });
}

void Fourier::transform(std::span<const Complex> in, std::span<Complex> out) const {
  split(in.data(), 1, out.data(), length_, 0);
}

// The transforms of every p-th element are combined to that of all, p being the factor.
void Fourier::split(const Complex* in, uint64_t stride, Complex* out, uint64_t length, size_t factor) const {
  if (length == 1) {
    *out = *in;
    return;
  }
  const uint64_t p = factors_[factor];
  const uint64_t part = length / p;
  for (uint64_t q = 0; q < p && part == 1; ++q) out[q] = in[q * stride];
  for (uint64_t q = 0; q < p && part > 1; ++q) split(in + q * stride, stride * p, out + q * part, part, factor + 1);
  const uint64_t step = length_ / length;
  if (p == 2) return combine_halves(out, part, step);
  std::vector<Complex> column(p);
  for (uint64_t k = 0; k < part; ++k) {
    for (uint64_t q = 0; q < p; ++q) column[q] = product(out[q * part + k], roots_[q * k * step]);
    for (uint64_t r = 0; r < p; ++r) {
      Complex sum = column[0];
      for (uint64_t q = 1; q < p; ++q) sum += product(column[q], roots_[q * r % p * part * step]);
      out[r * part + k] = sum;
    }
  }
}

// Combines two parts, a number in each vector: a product by 1 keeps the signs that zeros get by it.
void Fourier::combine_halves(Complex* out, uint64_t part, uint64_t step) const {
  const Pair one = pair_of(roots_[0]);
  const Pair minus_one = pair_of(roots_[part * step]);
  for (uint64_t k = 0; k < part; ++k) {
    const Pair first = product(pair_of(out[k]), one);
    const Pair second = product(pair_of(out[part + k]), pair_of(roots_[k * step]));
    store(first + product(second, one), out[k]);
    store(first + product(second, minus_one), out[part + k]);
  }
}

}  // namespace assay::ops
