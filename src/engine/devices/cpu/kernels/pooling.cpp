// Pools of pictures, channels last.
#include <algorithm>
#include <array>
#include <limits>
#include <tuple>
#include <type_traits>

#include "base/parallel.h"
#include "engine/devices/cpu/conv_geometry.h"
#include "engine/devices/cpu/device.h"
#include "engine/devices/cpu/rows/floats.h"

namespace assay::engine::cpu {
namespace {

struct Geometry {
  int64_t batch, channels, height, width, out_height, out_width;
  int64_t kernel_height, kernel_width, stride_y, stride_x, dilation_y, dilation_x, pad_top, pad_left;
  bool is_maximum;
  bool counts_padding;
};

class PoolKernel final : public PlainKernel {
 public:
  PoolKernel(const Geometry& geometry, tensor::DType dtype) : g_(geometry), dtype_(dtype) {}

  void run(const Arguments& arguments) const override {
    const auto* const in = host<const std::byte>(arguments.inputs[0]);
    auto* const out = host<std::byte>(arguments.outputs[0]);
    const int64_t pixel = g_.channels * float_bytes(dtype_);
    const int64_t row = g_.out_width * g_.channels * g_.kernel_height * g_.kernel_width;
    constexpr int64_t kGrain = 1 << 15;  // elements read
    const auto grain = static_cast<uint64_t>(std::max<int64_t>(1, kGrain / std::max<int64_t>(row, 1)));
    parallel_for(static_cast<uint64_t>(g_.batch * g_.out_height), grain, [&](uint64_t begin, uint64_t end) {
      for (auto y = static_cast<int64_t>(begin); y < static_cast<int64_t>(end); ++y) {
        const std::byte* const image = in + y / g_.out_height * g_.height * g_.width * pixel;
        for (int64_t x = 0; x < g_.out_width; ++x) {
          for (int64_t channel = 0; channel < g_.channels; channel += kTile) {
            const int64_t skipped = channel * float_bytes(dtype_);
            const auto count = static_cast<size_t>(std::min(kTile, g_.channels - channel));
            pool(image + skipped, y % g_.out_height, x, out + (y * g_.out_width + x) * pixel + skipped, count);
          }
        }
      }
    });
  }

 private:
  static constexpr int64_t kTile = 512;  // channels at once

  // Calls fn with the first byte of each pixel of a window; returns how many there are.
  template <typename Fn>
  int64_t for_window(const std::byte* image, int64_t y, int64_t x, Fn&& fn) const {
    int64_t pixels = 0;
    for (int64_t ky = 0; ky < g_.kernel_height; ++ky) {
      const int64_t in_y = y * g_.stride_y - g_.pad_top + ky * g_.dilation_y;
      if (in_y < 0 || in_y >= g_.height) continue;
      for (int64_t kx = 0; kx < g_.kernel_width; ++kx) {
        const int64_t in_x = x * g_.stride_x - g_.pad_left + kx * g_.dilation_x;
        if (in_x < 0 || in_x >= g_.width) continue;
        fn(image + (in_y * g_.width + in_x) * g_.channels * float_bytes(dtype_));
        ++pixels;
      }
    }
    return pixels;
  }

  // `count` channels of one pixel of the result.
  void pool(const std::byte* image, int64_t y, int64_t x, std::byte* out, size_t count) const {
    if (dtype_ == tensor::DType::int8) return pool_codes(image, y, x, reinterpret_cast<int8_t*>(out), count);
    if (dtype_ == tensor::DType::uint8) return pool_codes(image, y, x, reinterpret_cast<uint8_t*>(out), count);
    const RowKernels& rows = row_kernels();
    float read[kTile];
    float kept_tile[kTile];
    float* const kept = place_floats(dtype_, out, kept_tile);
    std::fill_n(kept, count, g_.is_maximum ? -std::numeric_limits<float>::infinity() : 0.0F);
    int64_t pixels = for_window(image, y, x, [&](const std::byte* pixel) {
      const float* const from = read_floats(dtype_, pixel, read, count);
      g_.is_maximum ? rows.maximum(kept, from, count) : rows.add(kept, from, count);
    });
    if (g_.counts_padding) pixels = g_.kernel_height * g_.kernel_width;
    if (!g_.is_maximum) rows.scale(kept, 1.0F / static_cast<float>(pixels), kept, count);
    write_floats(dtype_, kept, out, count);
  }

  template <typename T>
  void pool_codes(const std::byte* image, int64_t y, int64_t x, T* out, size_t count) const {
    std::fill_n(out, count, std::numeric_limits<T>::lowest());
    for_window(image, y, x, [&](const std::byte* pixel) {
      if constexpr (std::is_signed_v<T>)
        row_kernels().maximum_signed(out, reinterpret_cast<const T*>(pixel), count);
      else
        row_kernels().maximum_unsigned(out, reinterpret_cast<const T*>(pixel), count);
    });
  }

  Geometry g_;
  tensor::DType dtype_;
};

// What stands before the first element where the padding follows from the sizes.
int64_t padding_before(std::string_view auto_pad, int64_t in, int64_t out, int64_t kernel, int64_t stride,
                       int64_t dilation) {
  if (auto_pad != "SAME_UPPER" && auto_pad != "SAME_LOWER") return 0;
  return first_of_padding(auto_pad, std::max<int64_t>(0, padding_for(in, out, kernel, stride, dilation)));
}

std::optional<Geometry> geometry_of(const Layer& layer) {
  const tensor::Shape& in = layer.inputs[0].dims;
  const tensor::Shape& out = layer.outputs[0].dims;
  Geometry g{
      .batch = in[0], .channels = in[1], .height = in[2], .width = in[3], .out_height = out[2], .out_width = out[3]};
  g.stride_y = g.stride_x = g.dilation_y = g.dilation_x = 1;
  g.is_maximum = layer.starts_with("MaxPool") || layer.starts_with("GlobalMaxPool");
  if (layer.starts_with("GlobalAveragePool") || layer.starts_with("GlobalMaxPool")) {
    g.kernel_height = g.height;
    g.kernel_width = g.width;
    return g;
  }
  if (layer.outputs.size() > 1 && layer.outputs[1].exists()) return std::nullopt;
  const ops::Node facts = layer.facts(layer.nodes[0]);
  const std::vector<int64_t> kernel = facts.integers("kernel_shape");
  const std::vector<int64_t> strides = facts.integers("strides");
  const std::vector<int64_t> dilations = facts.integers("dilations");
  const std::vector<int64_t> pads = facts.integers("pads");
  if (kernel.size() != 2) return std::nullopt;
  g.kernel_height = kernel[0];
  g.kernel_width = kernel[1];
  if (!strides.empty()) std::tie(g.stride_y, g.stride_x) = std::pair(strides[0], strides[1]);
  if (!dilations.empty()) std::tie(g.dilation_y, g.dilation_x) = std::pair(dilations[0], dilations[1]);
  const std::string_view auto_pad = facts.string("auto_pad", "NOTSET");
  if (auto_pad != "NOTSET") {
    g.pad_top = padding_before(auto_pad, g.height, g.out_height, g.kernel_height, g.stride_y, g.dilation_y);
    g.pad_left = padding_before(auto_pad, g.width, g.out_width, g.kernel_width, g.stride_x, g.dilation_x);
  } else if (!pads.empty()) {
    std::tie(g.pad_top, g.pad_left) = std::pair(pads[0], pads[1]);
  }
  g.counts_padding = !g.is_maximum && facts.integer("count_include_pad", 0) != 0;
  // Windows that reach beyond the padding count what is there only, which needs care of its own.
  const bool reaches_beyond = facts.integer("ceil_mode", 0) != 0 && g.counts_padding;
  return reaches_beyond ? std::nullopt : std::optional(g);
}

class Pooling final : public Implementation {
 public:
  std::string_view name() const override { return "pool.channels_last"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    constexpr std::array<const char*, 4> kPools = {"MaxPool", "AveragePool", "GlobalMaxPool", "GlobalAveragePool"};
    const bool is_pool = std::ranges::any_of(kPools, [&](const char* op) { return layer.starts_with(op); });
    if (!is_pool || !layer.is_single() || layer.inputs[0].dims.size() != 4) return {};
    for (const TensorDesc& desc : {layer.inputs[0], layer.outputs[0]}) {
      const bool is_known = layer.starts_with("MaxPool") || layer.starts_with("GlobalMaxPool") ? is_readable(desc.dtype)
                                                                                               : is_float(desc.dtype);
      if (!is_known || !has_layout(desc, Layout::channels_last) || desc.count() == 0) return {};
    }
    const std::optional<Geometry> geometry = geometry_of(layer);
    return geometry ? std::make_unique<PoolKernel>(*geometry, layer.inputs[0].dtype) : nullptr;
  }
};

Implementations make_pooling_kernels(const Libraries&) {
  Implementations all;
  all.push_back(std::make_unique<Pooling>());
  return all;
}

}  // namespace

KernelFamily cpu_kernel_pooling() { return {make_pooling_kernels}; }

}  // namespace assay::engine::cpu
