#pragma once

#include <array>
#include <optional>
#include <vector>

#include "engine/devices/cpu/depthwise/code_windows.h"
#include "engine/devices/cpu/depthwise/depthwise_kernels.h"
#include "engine/devices/cpu/integers/integer_epilogue.h"
#include "engine/devices/cpu/lanes.h"
#include "engine/devices/cpu/tape/tape.h"
#include "engine/layers/convolution.h"
#include "engine/weights/packed_weights.h"

namespace assay::engine::cpu {

// A convolution of float32, bfloat16, or codes of 8 bits in which each channel is a group of its own, with what follows
// it in its layer; in float32, a channel may also give two results, or another power of two.
class DepthwiseConvolution {
 public:
  // Nullopt: another convolution, or no tape computes what follows.
  static std::optional<DepthwiseConvolution> make(const Layer& layer);

  const ConvGeometry& geometry() const { return g_; }
  size_t data() const { return data_; }  // an input of the layer
  int64_t bytes() const;                 // of a number of the data
  // Some channels of lines of the result.
  struct Lines {
    int64_t image;
    Lane y, channels;
  };
  // `image` is where line 0 of the picture begins. Only lines under the window are read. The arguments are the layer's.
  void run(const std::byte* image, const Arguments& arguments, const Lines& lines) const;

 private:
  // The followers of a layer: bounds, and a tape for the rest; or, of codes, all that makes something of sums.
  struct Followers {
    std::optional<std::array<float, 2>> bounds;
    Tape tape;
    std::optional<IntegerEpilogue> of_sums;
    bool take_results_apart() const { return of_sums || !tape.is_empty(); }
  };
  // Results of a line whose windows have the same columns inside the picture.
  struct Stretch {
    int64_t first = 0, count = 0;     // results
    int64_t column = 0, columns = 0;  // of the window
  };
  // Results of a line that are held apart until what follows has read them.
  struct Held {
    int64_t element;  // of the result, where they belong
    int64_t channel, channels, pixels;
  };
  struct Target {
    void* first;
    int64_t step;
    const FinishRows* finish = nullptr;  // of codes that are made of sums
  };

  DepthwiseConvolution(const Layer& layer, const ConvolutionForm& source, Followers followers);
  static std::optional<Followers> followers_of(const Layer& layer, const ConvolutionForm& source);
  static std::vector<Stretch> stretches_of(const ConvGeometry& g);
  // The weights of each pixel of the window so many times.
  Buffer pack(const Layer& layer, const ConvolutionForm& source, int64_t times) const;
  void pack_words(const ConvolutionForm& source, std::byte* to) const;
  void pack_floats(const ConvolutionForm& source, int64_t times, std::byte* to) const;
  static bool fits_words(const ConvolutionForm& source);
  int64_t words_bytes() const { return g_.kernel_height * code_window_line(g_.out_channels); }
  float zero(const Arguments& arguments) const;
  const float* bias(const Arguments& arguments) const;
  int64_t out_bytes() const;
  DepthwiseTypes types() const;
  struct Line {
    int64_t image, y;
    Lane channels;
  };
  bool has_squares() const;
  DepthwiseSpan squares_of(const DepthwiseSpan& upper, int64_t y) const;
  void run_pair(const std::byte* image, const Arguments& arguments, const Line& line) const;
  void run_line(const std::byte* image, const Arguments& arguments, const Line& line) const;
  DepthwiseSpan span_of(const std::byte* image, const Arguments& arguments, const Line& line) const;
  void finish(float* results, const Held& held, const Arguments& arguments) const;
  void run_pixels(const DepthwiseSpan& line, const Lane& pixels, const Target& target) const;
  DepthwiseSpan part_of(const DepthwiseSpan& line, const Stretch& stretch, const Lane& pixels,
                        const Target& target) const;
  void run_span(const DepthwiseSpan& span) const;
  // Results of whole pixels, one behind the other: of several at once, where the channels of one fill no vectors.
  void run_results(const DepthwiseSpan& span) const;
  int64_t pixels_at_once() const;
  int64_t channels_at_once() const { return at_once_ * g_.out_channels; }
  void run_words(const DepthwiseSpan& line, const Lane& pixels, const Target& target) const;

  ConvGeometry g_;
  int64_t repeat_;  // channels of the result for each of the data
  size_t data_;
  tensor::DType dtype_;  // of the data
  float zero_ = 0;       // of codes
  int zero_input_;       // of the layer, which has it otherwise; -1: it is known
  Followers followers_;
  std::vector<Stretch> stretches_;
  int bias_;
  std::vector<float> widened_bias_;
  bool has_weight_zeros_;         // of codes
  bool by_words_;                 // of codes, by run_code_windows
  bool makes_codes_;              // likewise, of sums in registers
  std::vector<std::byte> zeros_;  // read outside the picture then
  int64_t at_once_;               // pixels that run_results() takes; 1: one by one
  Buffer weights_;                // by pixel of the window, then channel; or as packed for words, once more for zeros
  Buffer repeated_;               // weights for the channels of several pixels at once, if they are taken so
};

}  // namespace assay::engine::cpu
