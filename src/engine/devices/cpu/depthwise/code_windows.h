#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/devices/cpu/integers/finish_kernels.h"

namespace assay::engine::cpu {

// Neighbouring results of a line, each the sum of codes of 8 bits under a window times weights of 8 bits, less a zero
// point, channel by channel. Channels lie innermost; steps of codes and weights are in bytes.
struct CodeWindowSpan {
  const std::byte* in = nullptr;       // the first pixel of the first line of windows that is inside the picture
  int64_t line_step = 0;               // from one line of a window to the next
  int64_t pixel_step = 0;              // from one pixel to the next
  int64_t width = 0;                   // pixels of a line
  int64_t left = 0;                    // begin of the first window; outside the picture, codes are the zero point
  int64_t stride = 1, dilation = 1;    // from one window to the next, and within a window, in pixels
  const std::byte* weights = nullptr;  // of the window's first line, as packed
  int64_t weights_line = 0;            // from those of one line to the next
  int64_t more_weights = 0;            // to those that are added to them, packed alike; 0: none are
  size_t lines = 0;                    // of the window, inside the picture
  size_t columns = 0;                  // of the window
  bool are_signed = false;             // the codes
  const std::byte* zeros = nullptr;    // the zero point, for each channel
  const FinishRows* finish =
      nullptr;  // makes codes of the sums of these channels, and adds nothing; null: sums are given
  void* out = nullptr;
  int64_t out_step = 0;  // from one result to the next, in elements
  size_t results = 0;
  size_t channels = 0;  // up to kMostWindowChannels
};
constexpr size_t kMostWindowChannels = 4096;

// True if this processor has loops for such windows.
bool has_code_windows(int64_t lines, int64_t columns);
// The bytes of a line of weights. Channels are packed in blocks; parts of them begin at multiples of kCodeWindowBlock.
constexpr int64_t kCodeWindowBlock = 64;
int64_t code_window_line(int64_t channels);
// Packs weights in 8 bits, [channels][lines][columns], line by line.
void pack_code_windows(const std::byte* weights, int64_t channels, int64_t lines, int64_t columns, std::byte* out);
void run_code_windows(const CodeWindowSpan& span);

}  // namespace assay::engine::cpu
