// RoiAlign of pictures, channels last: each bin is a weighted sum of pixels, or their greatest product.
#include "engine/layers/roi_align.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/error.h"
#include "base/parallel.h"
#include "engine/devices/cpu/device.h"
#include "engine/devices/cpu/rows/weighted_rows.h"

namespace assay::engine::cpu {
namespace {

using ops::RoiAxis;
using ops::RoiRegion;
using ops::RoiSample;

constexpr int64_t kSamples = 8;  // of an axis, whose pixels are found together

// The lines or columns that some samples of a bin read, each once, with the sum of its weights.
struct AxisPixels {
  std::array<int64_t, 2 * kSamples> places{};
  std::array<double, 2 * kSamples> weights{};
  size_t count = 0;

  AxisPixels(const RoiAxis& axis, int64_t bin, int64_t first, int64_t end) {
    for (int64_t i = first; i < std::min(first + kSamples, end); ++i) {
      const RoiSample sample = axis.sample(bin, i);
      if (sample.is_outside) continue;
      add(sample.low, 1 - sample.rest);
      add(sample.high, sample.rest);
    }
  }

 private:
  // Adds a weight. A neighbour that weighs nothing stays apart: 0 times infinity is NaN.
  void add(int64_t place, double weight) {
    size_t i = 0;
    while (i < count && (places[i] != place || (weights[i] == 0) != (weight == 0))) ++i;
    if (i == count) places[count++] = place;
    weights[i] += weight;
  }
};

// Pixels of which a bin is the weighted sum, added to it when there are many.
class BinSum {
 public:
  BinSum(float* out, size_t channels) : out_(out), channels_(channels) {}
  void add(const float* pixel, double weight) {
    if (count_ == kMost) flush();
    pixels_[count_] = pixel;
    weights_[count_++] = static_cast<float>(weight);
  }
  void flush() {
    weighted_rows().sum(pixels_.data(), weights_.data(), count_, has_some_, out_, channels_);
    has_some_ = true;
    count_ = 0;
  }

 private:
  static constexpr size_t kMost = 64;
  float* out_;
  size_t channels_;
  std::array<const float*, kMost> pixels_{};
  std::array<float, kMost> weights_{};
  size_t count_ = 0;
  bool has_some_ = false;
};

class RoiKernel final : public PlainKernel {
 public:
  RoiKernel(const ops::RoiRules& rules, bool takes_greatest, const tensor::Shape& in, int64_t regions)
      : rules_(rules),
        takes_greatest_(takes_greatest),
        images_(in[0]),
        channels_(in[1]),
        height_(in[2]),
        width_(in[3]),
        regions_(regions) {}

  void run(const Arguments& arguments) const override {
    check(arguments);
    constexpr int64_t kWork = 1 << 14;  // channels of pixels
    const int64_t of_line = rules_.width * channels_ * 9;
    const auto grain = static_cast<uint64_t>(std::max<int64_t>(1, kWork / of_line));
    parallel_for(static_cast<uint64_t>(lines()), grain, [&](uint64_t begin, uint64_t end) {
      for (auto line = static_cast<int64_t>(begin); line < static_cast<int64_t>(end); ++line) run_line(arguments, line);
    });
  }

 private:
  int64_t lines() const { return regions_ * rules_.height; }

  RoiRegion region_at(const Arguments& arguments, int64_t number) const {
    const float* const roi = host<const float>(arguments.inputs[1]) + 4 * number;
    const std::array<double, 4> numbers = {roi[0], roi[1], roi[2], roi[3]};
    return rules_.region(numbers.data(), height_, width_);
  }

  // Checks the regions before anything is computed, as the reference does.
  void check(const Arguments& arguments) const {
    const auto* const images = host<const int64_t>(arguments.inputs[2]);
    for (int64_t i = 0; i < regions_; ++i) {
      ops::check_roi_image(i, images[i], images_);
      region_at(arguments, i);
    }
  }

  void run_line(const Arguments& arguments, int64_t line) const {
    const int64_t number = line / rules_.height;
    const RoiRegion region = region_at(arguments, number);
    const int64_t image = host<const int64_t>(arguments.inputs[2])[number];
    const float* const picture = host<const float>(arguments.inputs[0]) + image * height_ * width_ * channels_;
    float* out = host<float>(arguments.outputs[0]) + line * rules_.width * channels_;
    for (int64_t x = 0; x < rules_.width; ++x, out += channels_) {
      if (takes_greatest_)
        find_greatest(picture, region, {line % rules_.height, x}, out);
      else
        add_up(picture, region, {line % rules_.height, x}, out);
    }
  }

  struct Bin {
    int64_t y, x;
  };

  const float* pixel(const float* picture, int64_t y, int64_t x) const {
    return picture + (y * width_ + x) * channels_;
  }

  void add_up(const float* picture, const RoiRegion& region, const Bin& bin, float* out) const {
    const auto& [rows, columns] = region;
    const double share =
        1.0 / static_cast<double>(std::max<int64_t>(1, rows.samples_per_bin * columns.samples_per_bin));
    BinSum sum(out, static_cast<size_t>(channels_));
    const RoiAxis::Range down = rows.near_picture(bin.y);
    const RoiAxis::Range beside = columns.near_picture(bin.x);
    for (int64_t i = down.begin; i < down.end; i += kSamples) {
      const AxisPixels lines(rows, bin.y, i, down.end);
      for (int64_t k = beside.begin; k < beside.end; k += kSamples) {
        const AxisPixels across(columns, bin.x, k, beside.end);
        for (size_t y = 0; y < lines.count; ++y) {
          for (size_t x = 0; x < across.count; ++x)
            sum.add(pixel(picture, lines.places[y], across.places[x]), lines.weights[y] * across.weights[x] * share);
        }
      }
    }
    sum.flush();
  }

  // Finds the greatest of the weighted neighbours of all samples; those outside of the picture have zeros.
  void find_greatest(const float* picture, const RoiRegion& region, const Bin& bin, float* out) const {
    const auto& [rows, columns] = region;
    const RoiAxis::Range down = rows.near_picture(bin.y);
    const RoiAxis::Range beside = columns.near_picture(bin.x);
    bool is_first = down.begin == 0 && beside.begin == 0 && down.count() * beside.count() > 0;
    if (!is_first) take_zeros(false, out);
    for (int64_t i = down.begin; i < down.end; ++i) {
      const RoiSample y = rows.sample(bin.y, i);
      for (int64_t k = beside.begin; k < beside.end; ++k) {
        take_products(picture, y, columns.sample(bin.x, k), !is_first, out);
        is_first = false;
      }
    }
    const bool are_all = down.count() == rows.samples_per_bin && beside.count() == columns.samples_per_bin;
    if (!are_all) take_zeros(true, out);
  }

  void take_zeros(bool keeps, float* out) const {
    for (int64_t c = 0; c < channels_; ++c) out[c] = keeps ? std::max(out[c], 0.0F) : 0;
  }

  void take_products(const float* picture, const RoiSample& y, const RoiSample& x, bool keeps, float* out) const {
    if (y.is_outside || x.is_outside) return take_zeros(keeps, out);
    const std::array<const float*, 4> pixels = {pixel(picture, y.low, x.low), pixel(picture, y.low, x.high),
                                                pixel(picture, y.high, x.low), pixel(picture, y.high, x.high)};
    const std::array<float, 4> weights = {
        static_cast<float>((1 - y.rest) * (1 - x.rest)), static_cast<float>((1 - y.rest) * x.rest),
        static_cast<float>(y.rest * (1 - x.rest)), static_cast<float>(y.rest * x.rest)};
    weighted_rows().greatest(pixels.data(), weights.data(), keeps, out, static_cast<size_t>(channels_));
  }

  ops::RoiRules rules_;
  bool takes_greatest_;
  int64_t images_, channels_, height_, width_, regions_;
};

class RoiAlign final : public Implementation {
 public:
  std::string_view name() const override { return "roi_align.bins"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    const std::optional<RoiForm> form = find_roi_align(layer);
    if (!form || layer.inputs[0].dtype != tensor::DType::float32 || layer.inputs[1].dtype != tensor::DType::float32) {
      return {};
    }
    return std::make_unique<RoiKernel>(form->rules, form->takes_greatest, layer.inputs[0].dims,
                                       layer.outputs[0].dims[0]);
  }
};

}  // namespace

KernelFamily cpu_kernel_roi_align() { return family_of<RoiAlign>(); }

}  // namespace assay::engine::cpu
