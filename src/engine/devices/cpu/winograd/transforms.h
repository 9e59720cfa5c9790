#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/devices/cpu/winograd/forms.h"

namespace assay::engine::cpu {

constexpr size_t kWinogradChannels = 16;  // numbers of channels have to be multiples
constexpr size_t kWinogradForms = std::tuple_size_v<WinogradLines>;

// A way to compute convolutions 3 x 3 with fewer multiplications, by Winograd: tiles of side x side pixels become as
// many terms for each channel, whose products with those of the weights become out x out pixels.
struct WinogradForm {
  size_t index;
  size_t stride, out, side;
  // The three weights of a line, at every `step`, into terms.
  void (*line_of_weights)(const double* weights, size_t step, double* terms, size_t out_step);
  double reading = 12;  // in how many multiplications a weight is read

  size_t terms() const { return side * side; }
};
const std::array<WinogradForm, kWinogradForms>& winograd_forms();

// Between pixels and terms, for one form: all channels of a tile. Those of a pixel are neighbours, terms are `stride`
// apart. Numbers are float32 or the bits of bfloat16; what comes out of products is float32.
template <typename Number>
struct WinogradLoopsOf {
  void (*in)(const Number* const* pixels, Number* terms, size_t stride, size_t channels);
  // Pixels outside the picture are null, as is a bias that is not there.
  void (*out)(const float* terms, size_t stride, const float* bias, Number* const* pixels, size_t channels);
};
template <typename Number>
using WinogradLoopsOfForms = std::array<WinogradLoopsOf<Number>, kWinogradForms>;
using WinogradLoops = WinogradLoopsOf<float>;

// Loops of all forms, for one instruction set.
struct WinogradTransforms {
  const char* name;
  WinogradLoopsOfForms<float> loops;
};

// The best that this processor has.
const WinogradTransforms& winograd_transforms();
// Loops for bfloat16; null: this processor has no products of it.
const WinogradLoopsOfForms<uint16_t>* winograd_half_loops();
// All that this processor has, for tests.
std::span<const WinogradTransforms* const> all_winograd_transforms();

}  // namespace assay::engine::cpu
