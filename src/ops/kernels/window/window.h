#pragma once

#include <cstdint>
#include <vector>

#include "ops/infer.h"

namespace assay::ops {

enum class AutoPad : uint8_t { notset, same_upper, same_lower, valid };

// One spatial axis over which windows slide, with numbers for everything.
struct WindowAxis {
  int64_t in = 0;
  int64_t out = 0;
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t begin = 0;  // padding before and after
  int64_t end = 0;

  int64_t reach() const { return (kernel - 1) * dilation + 1; }
  // The place that tap `k` of window `o` reads; outside [0, in) lies padding.
  int64_t place(int64_t o, int64_t k) const { return o * stride + k * dilation - begin; }
};

using Window = std::vector<WindowAxis>;

// The attributes kernel_shape, strides, dilations, pads, auto_pad and ceil_mode, checked.
struct WindowRules {
  std::vector<int64_t> strides, dilations, pads;  // pads: all begins, then all ends
  AutoPad auto_pad = AutoPad::notset;
  bool has_ceil_mode = false;
};

// Error where a list does not have one entry (pads: two) for each axis, or an entry or mode that cannot be.
WindowRules read_window_rules(const Node& node, size_t axes);
// Error unless there are `axes` of them, all positive.
void check_kernel(const std::vector<int64_t>& kernel, size_t axes);

// The attribute kernel_shape, checked.
std::vector<int64_t> read_kernel(const Node& node, size_t axes);

// The number of windows along each axis. Error if a kernel is larger than its padded axis.
Dims window_counts(const WindowRules& rules, std::span<const Dim> in, std::span<const Dim> kernel);
Window make_window(const WindowRules& rules, std::span<const int64_t> in, std::span<const int64_t> kernel);

// Dims of outputs 0 and 1 of a pool with the attribute kernel_shape.
void infer_pool(Infer& node);
// The elements that such a pool looks at: for each element of output 0 a window, as far as it can lie within the input.
Dim pool_work(const Infer& node);
Dim pool_work_channels_last(const Infer& node);

// The dims of a shape behind those of batch and channel.
template <typename T>
std::span<const T> spatial(const std::vector<T>& dims) {
  return std::span(dims).subspan(2);
}
// Error unless input 0, where its rank is known, has at least one axis beside batch and channel.
void require_spatial(const Infer& node, uint32_t input = 0);

}  // namespace assay::ops
