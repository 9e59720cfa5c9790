// Pools of pictures, channels last; those that also give places, in either layout.
#include <algorithm>
#include <array>

#include "base/parallel.h"
#include "engine/devices/cpu/device.h"
#include "engine/devices/cpu/forms.h"
#include "engine/devices/cpu/pools/maximum_places.h"
#include "engine/devices/cpu/pools/maximum_pool.h"
#include "engine/devices/cpu/rows/floats.h"

namespace assay::engine::cpu {
namespace {

// Averages.
class AveragePool final : public PlainKernel {
 public:
  AveragePool(const PoolForm& geometry, tensor::DType dtype) : g_(geometry), dtype_(dtype) {}

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
    const RowKernels& rows = row_kernels();
    float read[kTile];
    float kept_tile[kTile];
    float* const kept = place_floats(dtype_, out, kept_tile);
    std::fill_n(kept, count, 0.0F);
    int64_t pixels = for_window(image, y, x, [&](const std::byte* pixel) {
      rows.add(kept, read_floats(dtype_, pixel, read, count), 1, count);
    });
    if (g_.counts_padding) pixels = g_.kernel_height * g_.kernel_width;
    rows.scale(kept, 1.0F / static_cast<float>(pixels), kept, count);
    write_floats(dtype_, kept, out, count);
  }

  PoolForm g_;
  tensor::DType dtype_;
};

class Pooling final : public Implementation {
 public:
  std::string_view name() const override { return "pool.channels_last"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    const auto* const form = form_as<PoolForm>(layer);
    if (form == nullptr || form->gives_places) return {};
    for (const TensorDesc& desc : {layer.inputs[0], layer.outputs[0]}) {
      const bool is_known = form->is_maximum ? is_readable(desc.dtype) : is_float(desc.dtype);
      if (!is_known || !has_layout(desc, Layout::channels_last) || desc.count() == 0) return {};
    }
    const tensor::DType dtype = layer.inputs[0].dtype;
    if (form->is_maximum) return make_maximum_pool(*form, dtype);
    return std::make_unique<AveragePool>(*form, dtype);
  }
};

class PoolingWithPlaces final : public Implementation {
 public:
  std::string_view name() const override { return "pool.places"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    const auto* const form = form_as<PoolForm>(layer);
    const TensorDesc& in = layer.inputs[0];
    if (form == nullptr || !form->gives_places || !is_readable(in.dtype)) return {};
    for (const Layout layout : {Layout::plain, Layout::channels_last}) {
      const auto lies_so = [&](const TensorDesc& desc) { return has_layout(desc, layout) && desc.count() != 0; };
      if (lies_so(in) && std::ranges::all_of(layer.outputs, lies_so))
        return make_maximum_places(*form, in.dtype, form->is_column_major, layout);
    }
    return {};
  }
};

}  // namespace

KernelFamily cpu_kernel_pooling() { return family_of<Pooling, PoolingWithPlaces>(); }

}  // namespace assay::engine::cpu
