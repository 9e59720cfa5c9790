#pragma once

#include <complex>
#include <cstdint>
#include <span>
#include <vector>

#include "ops/dim.h"

namespace assay::ops {

// The discrete Fourier transform of one length, by splitting it into its prime factors.
class Fourier {
 public:
  // The inverse is not divided by the length.
  Fourier(uint64_t length, bool inverse);

  uint64_t length() const { return length_; }
  // exp(∓2πik/length)
  std::span<const std::complex<double>> roots() const { return roots_; }
  // The least prime factor that the transforms of a part of this length, a product of others, are split by.
  uint64_t factor_of(uint64_t length) const;
  // Both of the length; not the same memory. From several threads.
  void transform(std::span<const std::complex<double>> in, std::span<std::complex<double>> out) const;

 private:
  void split(const std::complex<double>* in, uint64_t stride, std::complex<double>* out, uint64_t length,
             size_t factor) const;
  void combine_halves(std::complex<double>* out, uint64_t part, uint64_t step) const;

  uint64_t length_;
  std::vector<uint64_t> factors_;
  std::vector<std::complex<double>> roots_;
};

// Multiply-accumulates of one transform: those of complex numbers are four.
Dim fourier_macs(const Dim& length);

}  // namespace assay::ops
