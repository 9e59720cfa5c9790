#pragma once

#include <complex>
#include <cstdint>
#include <span>

namespace assay::engine::cpu {

// The step of a transform that splits each of its transforms of `length` numbers into `factor` shorter ones. Numbers of
// `stride` transforms lie side by side.
struct FourierStep {
  int64_t factor, length, stride;
};

// Transforms of several lines at once: a number is as many real parts as there are lines, and behind them as many
// imaginary ones.
struct FourierKernels {
  const char* name;
  int64_t lines;
  // `roots` are those of the whole length, exp(∓2πik/length).
  void (*step)(const FourierStep& step, std::span<const std::complex<double>> roots, const double* in, double* out);
};

// The best that this processor has.
const FourierKernels& fourier_kernels();
// All that this processor has, for tests.
std::span<const FourierKernels* const> all_fourier_kernels();

}  // namespace assay::engine::cpu
