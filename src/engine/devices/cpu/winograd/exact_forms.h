#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "engine/devices/cpu/winograd/transforms.h"
#include "tensor/tensor.h"

namespace assay::engine::cpu {

// Forms for codes of 8 bits at stride 1, by which nothing is rounded: terms of data and of weights are whole numbers of
// 16 bits, and the sums of their products, modulo 2^32, become a multiple of the result.
struct ExactLoops {
  int shift;  // of the multiple, the powers of two: so many bits of a sum are lost
  // Pixels of 8 bits, with a sign or none, into terms.
  void (*in)(const std::byte* const* pixels, bool are_signed, int16_t* terms, size_t stride, size_t channels);
  // Sums of products into those of a convolution, each `pixel` and `line` from the next; `starts` are added by column.
  struct Out {
    const int32_t* terms;
    size_t stride;
    const int32_t* starts;
    int32_t* sums;
    size_t pixel, line;
    size_t columns;
  };
  void (*out)(const Out& out);
};

// The forms with fewest multiplications first, and their loops; null: this processor has no instructions for them.
const std::array<WinogradForm, 2>& exact_forms();
const std::array<ExactLoops, 2>* exact_loops();

// True if no sum of codes by these weights, int8 [out_channels][channels][3][3], can be too large for the form.
bool fits_exactly(const ExactLoops& loops, const tensor::Tensor& weights, bool are_signed);

}  // namespace assay::engine::cpu
