// GridSample of pictures: for each point of the grid, the elements that count for it in every channel.
#include "engine/layers/grid_sample.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/parallel.h"
#include "engine/devices/cpu/device.h"
#include "engine/devices/cpu/resampling/grid_points.h"

namespace assay::engine::cpu {
namespace {

constexpr uint64_t kGrain = 1 << 9;  // points
constexpr int64_t kChannels = 8;     // at once

// A point of the result: what it is the weighted sum of. Behind the elements that count stands the first one of the
// plane without a weight.
struct Point {
  uint32_t elements[4];
  float weights[4];
  uint32_t count;
};

class GridKernel final : public PlainKernel {
 public:
  GridKernel(ops::GridMode mode, const ops::GridAxis& y, const ops::GridAxis& x, const tensor::Shape& in,
             const tensor::Shape& out)
      : mode_(mode),
        y_(y),
        x_(x),
        plane_{.height = static_cast<double>(y.length),
               .width = static_cast<double>(x.length),
               .aligns_corners = x.aligns_corners,
               .has_border = x.padding == ops::GridPadding::border},
        batch_(in[0]),
        channels_(in[1]),
        points_(out[2] * out[3]) {}

  uint64_t workspace_bytes() const override { return static_cast<uint64_t>(points_) * sizeof(Point); }

  void run(const Arguments& arguments) const override {
    if (channels_ <= kChannels) return run_images(arguments);
    auto* const points = host<Point>(arguments.workspace);
    for (int64_t image = 0; image < batch_; ++image) {
      const float* const grid = host<const float>(arguments.inputs[1]) + image * points_ * 2;
      parallel_for(static_cast<uint64_t>(points_), kGrain, [&](uint64_t begin, uint64_t end) {
        for (uint64_t p = begin; p < end; ++p) points[p] = point_at(double{grid[2 * p + 1]}, double{grid[2 * p]});
      });
      const auto blocks = static_cast<uint64_t>((channels_ + kChannels - 1) / kChannels);
      const uint64_t grain = kGrain / static_cast<uint64_t>(points_) + 1;
      parallel_for(blocks, grain, [&](uint64_t begin, uint64_t end) {
        for (uint64_t block = begin; block < end; ++block) {
          run_channels(arguments, points, image, static_cast<int64_t>(block) * kChannels);
        }
      });
    }
  }

 private:
  // Few channels read a point at once, so that none is kept.
  void run_images(const Arguments& arguments) const {
    const bool is_linear = mode_ == ops::GridMode::linear && y_.padding != ops::GridPadding::reflection &&
                           y_.length * x_.length <= std::numeric_limits<int32_t>::max();
    const auto all = static_cast<uint64_t>(batch_ * points_);
    parallel_for(all, kGrain, [&](uint64_t begin, uint64_t end) {
      const Range range{static_cast<int64_t>(begin), static_cast<int64_t>(end)};
      is_linear ? run_linear(arguments, range) : run_points(arguments, range);
    });
  }

  // Points of all images.
  struct Range {
    int64_t begin, end;
  };

  void run_points(const Arguments& arguments, Range range) const {
    for (int64_t i = range.begin; i < range.end; ++i) {
      const float* const place = host<const float>(arguments.inputs[1]) + i * 2;
      const Point point = point_at(double{place[1]}, double{place[0]});
      const int64_t first = i / points_ * channels_;
      const float* from = host<const float>(arguments.inputs[0]) + first * y_.length * x_.length;
      float* to = host<float>(arguments.outputs[0]) + first * points_ + i % points_;
      for (int64_t c = 0; c < channels_; ++c, from += y_.length * x_.length, to += points_)
        add_point<1>(point, point.count, from, to);
    }
  }

  void run_linear(const Arguments& arguments, Range range) const {
    for (int64_t i = range.begin; i < range.end;) {
      const int64_t left = std::min(range.end - i, points_ - i % points_);  // in the same image
      const int64_t count = std::min(left, static_cast<int64_t>(GridPoints::kMost));
      run_block(arguments, {i, i + count});
      i += count;
    }
  }

  // Points of one image.
  void run_block(const Arguments& arguments, Range range) const {
    GridPoints points;  // NOLINT(cppcoreguidelines-pro-type-member-init): written next
    const auto count = static_cast<size_t>(range.end - range.begin);
    grid_kernels().find(plane_, host<const float>(arguments.inputs[1]) + range.begin * 2, count, points);
    const int64_t first = range.begin / points_ * channels_;
    const float* from = host<const float>(arguments.inputs[0]) + first * y_.length * x_.length;
    float* to = host<float>(arguments.outputs[0]) + first * points_ + range.begin % points_;
    for (int64_t c = 0; c < channels_; ++c, from += y_.length * x_.length, to += points_) {
      grid_kernels().sum(points, from, count, to);
      for (size_t p = 0; p < count; ++p) {  // an element without a weight must not count
        const auto point = range.begin + static_cast<int64_t>(p);
        if (!std::isfinite(to[p])) run_points(arguments, {point, point + 1});
      }
    }
  }

  Point point_at(double y, double x) const {
    const ops::GridPicks rows(mode_, y_, y);
    const ops::GridPicks columns(mode_, x_, x);
    Point point{{}, {}, 0};
    for (int r = 0; r < rows.count; ++r) {
      for (int c = 0; c < columns.count; ++c) {
        const double weight = rows.weights[r] * columns.weights[c];
        if (rows.elements[r] < 0 || columns.elements[c] < 0 || weight == 0) continue;
        point.elements[point.count] = static_cast<uint32_t>(rows.elements[r] * x_.length + columns.elements[c]);
        point.weights[point.count++] = static_cast<float>(weight);
      }
    }
    return point;
  }

  void run_channels(const Arguments& arguments, const Point* points, int64_t image, int64_t first) const {
    const int64_t plane = y_.length * x_.length;
    const float* from = host<const float>(arguments.inputs[0]) + (image * channels_ + first) * plane;
    float* to = host<float>(arguments.outputs[0]) + (image * channels_ + first) * points_;
    if (first + kChannels <= channels_) return add_terms<kChannels>(points, from, to);
    for (int64_t c = first; c < channels_; ++c, from += plane, to += points_) add_terms<1>(points, from, to);
  }

  // A number that is none would count without a weight too.
  template <int64_t kCount>
  void add_terms(const Point* points, const float* from, float* to) const {
    bool is_finite = true;
    for (int64_t c = 0; c < kCount; ++c) is_finite = is_finite && std::isfinite(from[c * y_.length * x_.length]);
    if (is_finite) {
      for (int64_t p = 0; p < points_; ++p) add_point<kCount>(points[p], 4, from, to + p);
    } else {
      for (int64_t p = 0; p < points_; ++p) add_point<kCount>(points[p], points[p].count, from, to + p);
    }
  }

  template <int64_t kCount>
  [[gnu::always_inline]] void add_point(const Point& point, uint32_t count, const float* from, float* to) const {
    const int64_t plane = y_.length * x_.length;
    float sums[kCount] = {};
#pragma GCC unroll 4
    for (uint32_t term = 0; term < count; ++term) {
      const float* const element = from + point.elements[term];
      for (int64_t c = 0; c < kCount; ++c) sums[c] += point.weights[term] * element[c * plane];
    }
    for (int64_t c = 0; c < kCount; ++c) to[c * points_] = sums[c];
  }

  ops::GridMode mode_;
  ops::GridAxis y_, x_;
  GridPlane plane_;
  int64_t batch_, channels_, points_;
};

class GridSample final : public Implementation {
 public:
  std::string_view name() const override { return "grid_sample.points"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    const std::optional<GridForm> form = find_grid_sample(layer);
    if (!form || layer.inputs[0].dtype != tensor::DType::float32 || layer.inputs[1].dtype != tensor::DType::float32) {
      return {};
    }
    const tensor::Shape& in = layer.inputs[0].dims;
    return std::make_unique<GridKernel>(form->mode, form->axis(in[2]), form->axis(in[3]), in, layer.outputs[0].dims);
  }
};

}  // namespace

KernelFamily cpu_kernel_grid_sample() { return family_of<GridSample>(); }

}  // namespace assay::engine::cpu
