#pragma once

#include <array>
#include <optional>
#include <vector>

#include "engine/devices/cpu/conv_source.h"
#include "engine/devices/cpu/depthwise/depthwise_kernels.h"
#include "engine/devices/cpu/lanes.h"
#include "engine/devices/cpu/tape/tape.h"
#include "engine/packed_weights.h"

namespace assay::engine::cpu {

// A convolution of float32 or bfloat16 in which each channel is a group of its own, with what follows it in its layer.
class DepthwiseConvolution {
 public:
  // Nullopt: another convolution, or no tape computes what follows.
  static std::optional<DepthwiseConvolution> make(const Layer& layer);

  const ConvGeometry& geometry() const { return g_; }
  // Some channels of a line of the result.
  struct Line {
    int64_t image, y;
    Lane channels;
  };
  // `image` is where line 0 of the picture begins; only lines under the window are read. The arguments are the layer's.
  void run(const std::byte* image, const Arguments& arguments, const Line& line) const;

 private:
  // What follows: bounds, and a tape for the rest.
  struct Followers {
    std::optional<std::array<float, 2>> bounds;
    Tape tape;
  };
  // Results of a line whose windows have the same columns inside the picture.
  struct Stretch {
    int64_t first = 0, count = 0;     // results
    int64_t column = 0, columns = 0;  // of the window
  };
  struct Target {
    void* first;
    int64_t step;
  };

  DepthwiseConvolution(const Layer& layer, const ConvSource& source, Followers followers);
  static std::optional<Followers> followers_of(const Layer& layer);
  static std::vector<Stretch> stretches_of(const ConvGeometry& g);
  PackedWeights::Bytes pack(const Layer& layer, const tensor::Tensor& weights) const;
  const float* bias(const Arguments& arguments) const;
  int64_t out_bytes() const;
  void run_pixels(const DepthwiseSpan& line, const Lane& pixels, const Target& target) const;
  void run_span(const DepthwiseSpan& span) const;

  ConvGeometry g_;
  tensor::DType dtype_;
  Followers followers_;
  std::vector<Stretch> stretches_;
  int bias_;
  std::vector<float> widened_bias_;
  PackedWeights::Bytes weights_;  // by pixel of the window, then channel
};

}  // namespace assay::engine::cpu
