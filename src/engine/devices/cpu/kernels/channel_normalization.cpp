// InstanceNormalization and GroupNormalization, channels last or not.
#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "engine/devices/cpu/device.h"
#include "engine/devices/cpu/rows/floats.h"
#include "engine/layers/form.h"

namespace assay::engine::cpu {
namespace {

constexpr int64_t kTile = 1024;  // elements that are widened at once
constexpr int64_t kChunk = 128;  // pixels whose sums are kept in float32

struct Geometry : ChannelNormForm {
  tensor::DType dtype;
  bool is_channels_last;

  int64_t chunks() const { return (pixels + kChunk - 1) / kChunk; }
  double factor(double squares) const {
    return 1 / std::sqrt(squares / static_cast<double>(per_group() * pixels) + epsilon);
  }
};

class ChannelNormKernel final : public PlainKernel {
 public:
  explicit ChannelNormKernel(const Geometry& geometry) : g_(geometry) {}

  uint64_t workspace_bytes() const override {
    if (!g_.is_channels_last) return 0;
    return static_cast<uint64_t>((g_.chunks() + 3) * g_.channels) * sizeof(float);
  }

  void run(const Arguments& arguments) const override {
    if (!g_.is_channels_last) return run_planes(arguments);
    for (int64_t image = 0; image < g_.batch; ++image) run_pixels(arguments, image);
  }

 private:
  // The number of a channel that an input has.
  float number(const Arguments& arguments, int input, int64_t channel) const {
    float tile = 0;
    const auto* const from = host<const std::byte>(arguments.inputs[static_cast<size_t>(input)]);
    return *read_floats(g_.dtype, from + channel / g_.per_number * float_bytes(g_.dtype), &tile, 1);
  }

  // Calls fn(floats, first, count) tile by tile.
  template <typename Fn>
  void for_tiles(const std::byte* from, int64_t count, Fn&& fn) const {
    float tile[kTile];
    const int64_t step = g_.dtype == tensor::DType::float32 ? count : kTile;
    for (int64_t first = 0; first < count; first += step) {
      const auto size = static_cast<size_t>(std::min(step, count - first));
      fn(read_floats(g_.dtype, from + first * float_bytes(g_.dtype), tile, size), first, size);
    }
  }

  // A group's planes lie side by side.
  void run_planes(const Arguments& arguments) const {
    const RowKernels& rows = row_kernels();
    const auto* const in = host<const std::byte>(arguments.inputs[static_cast<size_t>(g_.data)]);
    auto* const out = host<std::byte>(arguments.outputs[0]);
    const int64_t size = g_.per_group() * g_.pixels;
    const auto grain = static_cast<uint64_t>(std::max<int64_t>(1, (1 << 13) / std::max<int64_t>(size, 1)));
    parallel_for(static_cast<uint64_t>(g_.batch * g_.groups), grain, [&](uint64_t begin, uint64_t end) {
      for (auto group = static_cast<int64_t>(begin); group < static_cast<int64_t>(end); ++group) {
        const int64_t start = group * size * float_bytes(g_.dtype);
        double sum = 0;
        for_tiles(in + start, size, [&](const float* x, int64_t, size_t count) { sum += rows.sum(x, count); });
        const auto mean = static_cast<float>(sum / static_cast<double>(size));
        double squares = 0;
        for_tiles(in + start, size,
                  [&](const float* x, int64_t, size_t count) { squares += rows.sum_of_squares(x, mean, count); });
        const double factor = g_.factor(squares);
        for (int64_t i = 0; i < g_.per_group(); ++i) {
          const int64_t channel = group % g_.groups * g_.per_group() + i;
          const int64_t plane = start + i * g_.pixels * float_bytes(g_.dtype);
          const auto scale = static_cast<float>(factor * number(arguments, g_.scale, channel));
          const float shift = number(arguments, g_.shift, channel);
          for_tiles(in + plane, g_.pixels, [&](const float* x, int64_t first, size_t count) {
            float tile[kTile];
            std::byte* const to = out + plane + first * float_bytes(g_.dtype);
            float* const made = place_floats(g_.dtype, to, tile);
            rows.move_and_scale(x, mean, scale, shift, made, count);
            write_floats(g_.dtype, made, to, count);
          });
        }
      }
    });
  }

  // Numbers of each channel, beside the sums of chunks of pixels.
  struct Scratch {
    float* mean;
    float* factor;
    float* shift;
    float* chunks;
  };

  // Calls fn(floats, pixel, pixels, first channel, channels) for some pixels: all of float32 at once.
  template <typename Fn>
  void for_pixels(const std::byte* image, int64_t begin, int64_t end, Fn&& fn) const {
    const int64_t step = g_.dtype == tensor::DType::float32 ? end - begin : 1;
    for (int64_t pixel = begin; pixel < end; pixel += step) {
      const std::byte* const from = image + pixel * g_.channels * float_bytes(g_.dtype);
      if (step > 1) return fn(reinterpret_cast<const float*>(from), begin, step, 0, static_cast<size_t>(g_.channels));
      for_tiles(from, g_.channels, [&](const float* x, int64_t first, size_t count) { fn(x, pixel, 1, first, count); });
    }
  }

  // Adds up each channel over the pixels: add(sums, pixels, first channel, count of pixels, of channels).
  template <typename Add>
  void sum_pixels(const std::byte* image, float* chunks, Add&& add) const {
    parallel_for(static_cast<uint64_t>(g_.chunks()), 1, [&](uint64_t begin, uint64_t end) {
      for (auto chunk = static_cast<int64_t>(begin); chunk < static_cast<int64_t>(end); ++chunk) {
        float* const sums = chunks + chunk * g_.channels;
        std::fill_n(sums, g_.channels, 0.0F);
        for_pixels(image, chunk * kChunk, std::min(g_.pixels, (chunk + 1) * kChunk),
                   [&](const float* x, int64_t, int64_t pixels, int64_t first, size_t count) {
                     add(sums + first, x, first, static_cast<size_t>(pixels), count);
                   });
      }
    });
  }

  // Calls fn(group, sum) with what the chunks hold of each group.
  template <typename Fn>
  void for_groups(const float* chunks, Fn&& fn) const {
    for (int64_t group = 0; group < g_.groups; ++group) {
      double sum = 0;
      for (int64_t chunk = 0; chunk < g_.chunks(); ++chunk) {
        const float* const sums = chunks + chunk * g_.channels + group * g_.per_group();
        for (int64_t i = 0; i < g_.per_group(); ++i) sum += sums[i];
      }
      fn(group, sum);
    }
  }

  void run_pixels(const Arguments& arguments, int64_t image) const {
    const RowKernels& rows = row_kernels();
    auto* const scratch = host<float>(arguments.workspace);
    const Scratch s{scratch, scratch + g_.channels, scratch + 2 * g_.channels, scratch + 3 * g_.channels};
    const int64_t row = g_.channels * float_bytes(g_.dtype);
    const std::byte* const in =
        host<const std::byte>(arguments.inputs[static_cast<size_t>(g_.data)]) + image * g_.pixels * row;
    std::byte* const out = host<std::byte>(arguments.outputs[0]) + image * g_.pixels * row;
    sum_pixels(in, s.chunks, [&](float* sums, const float* x, int64_t, size_t pixels, size_t count) {
      rows.add(sums, x, pixels, count);
    });
    for_groups(s.chunks, [&](int64_t group, double sum) {
      const double mean = sum / static_cast<double>(g_.per_group() * g_.pixels);
      std::fill_n(s.mean + group * g_.per_group(), g_.per_group(), static_cast<float>(mean));
    });
    sum_pixels(in, s.chunks, [&](float* sums, const float* x, int64_t first, size_t pixels, size_t count) {
      rows.add_squares(sums, x, s.mean + first, pixels, count);
    });
    for_groups(s.chunks, [&](int64_t group, double squares) {
      const double factor = g_.factor(squares);
      for (int64_t channel = group * g_.per_group(); channel < (group + 1) * g_.per_group(); ++channel) {
        s.factor[channel] = static_cast<float>(factor * number(arguments, g_.scale, channel));
        s.shift[channel] = number(arguments, g_.shift, channel);
      }
    });
    parallel_for(static_cast<uint64_t>(g_.pixels), kChunk, [&](uint64_t begin, uint64_t end) {
      for_pixels(in, static_cast<int64_t>(begin), static_cast<int64_t>(end),
                 [&](const float* x, int64_t pixel, int64_t pixels, int64_t first, size_t count) {
                   float tile[kTile];
                   std::byte* const to = out + pixel * row + first * float_bytes(g_.dtype);
                   float* const made = place_floats(g_.dtype, to, tile);
                   rows.move_and_scale_each(x, s.mean + first, s.factor + first, s.shift + first, made,
                                            static_cast<size_t>(pixels), count);
                   write_floats(g_.dtype, made, to, count);
                 });
    });
  }

  Geometry g_;
};

class ChannelNormalization final : public Implementation {
 public:
  std::string_view name() const override { return "normalization.channels"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    const auto* const form = form_as<ChannelNormForm>(layer);
    if (form == nullptr) return {};
    const TensorDesc& in = layer.inputs[static_cast<size_t>(form->data)];
    if (!is_float(in.dtype)) return {};
    const bool is_plain = has_layout(in, Layout::plain) && has_layout(layer.outputs[0], Layout::plain);
    const bool is_channels_last =
        has_layout(in, Layout::channels_last) && has_layout(layer.outputs[0], Layout::channels_last);
    if ((!is_plain && !is_channels_last) || layer.outputs[0].dtype != in.dtype) return {};
    for (const int input : {form->scale, form->shift}) {
      const TensorDesc& numbers = layer.inputs[static_cast<size_t>(input)];
      if (numbers.dtype != in.dtype || !has_layout(numbers, Layout::plain)) return {};
    }
    return std::make_unique<ChannelNormKernel>(Geometry{*form, in.dtype, !is_plain});
  }
};

}  // namespace

KernelFamily cpu_kernel_channel_normalization() { return family_of<ChannelNormalization>(); }

}  // namespace assay::engine::cpu
