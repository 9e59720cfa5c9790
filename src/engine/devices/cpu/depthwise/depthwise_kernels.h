#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace assay::engine::cpu {

// Neighbouring results of a line, or of several, each the sum over a window of a picture, channel by channel. Channels
// lie innermost; steps are in elements.
struct DepthwiseSpan {
  const void* in = nullptr;        // the first number of the first window
  int64_t repeat = 1;              // results of a channel of the picture: a power of two, of float32 if it is not 1
  int64_t line_step = 0;           // from one line of a window to the next
  int64_t pixel_step = 0;          // from one pixel of it to the next
  int64_t advance = 0;             // from one window to the next
  const float* weights = nullptr;  // of the window's first pixel; each pixel has one for each channel
  int64_t weights_line = 0;        // from those of one line to the next
  int64_t weights_pixel = 0;       // likewise of pixels
  size_t lines = 0, columns = 0;   // of the window
  float zero = 0;                  // is taken off codes
  const float* bias = nullptr;     // of each channel; null: none
  const float* bounds = nullptr;   // two, of the results; null: none
  void* out = nullptr;             // the first number of the first result
  int64_t out_step = 0;            // from one result to the next
  size_t results = 0;              // of a line
  // Two lines of results, of windows 3 x 3 that are moved by `advance` in both directions; `in` and `weights` are those
  // of whole windows, and of the lines under both only some are read.
  bool are_squares = false;
  size_t first_line = 0, end_line = 0;
  int64_t out_line = 0;  // from one line of results to the next
  size_t channels = 0;   // a multiple of `width`

  // The span from another channel on; elements have so many bytes.
  DepthwiseSpan from(int64_t channel, int64_t in_bytes, int64_t out_bytes) const;
};

// Types of pictures and results: the same, or float32 of bfloat16, or sums in 32 bits of codes of 8 bits, which are
// exact for windows of up to 256 pixels.
enum class DepthwiseTypes : uint8_t { floats, halves, halves_to_floats, signed_to_sums, unsigned_to_sums };

// Loops over spans, for one instruction set.
struct DepthwiseKernels {
  const char* name;
  size_t width;  // channels at once
  void (*run)(DepthwiseTypes types, const DepthwiseSpan& span);
};

// The loops that this processor has, with most channels at once first; the last takes them one by one.
std::span<const DepthwiseKernels* const> depthwise_kernels();

}  // namespace assay::engine::cpu
