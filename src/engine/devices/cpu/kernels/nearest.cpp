// Resize of pictures to the nearest element.
#include <algorithm>
#include <cstring>

#include "base/parallel.h"
#include "engine/devices/cpu/device.h"
#include "engine/devices/cpu/forms.h"
#include "engine/layers/resize.h"

namespace assay::engine::cpu {
namespace {

constexpr int64_t kNearestGrain = 1 << 16;  // bytes

// Pictures of pixels: of all channels where these are innermost, otherwise each channel is a picture.
struct Geometry {
  int64_t pictures, rows, columns, pixel_bytes;
};

class NearestKernel final : public PlainKernel {
 public:
  NearestKernel(const Geometry& geometry, std::vector<int64_t> rows, std::vector<int64_t> columns)
      : g_(geometry), rows_(std::move(rows)), columns_(std::move(columns)) {}

  void run(const Arguments& arguments) const override {
    const auto* const in = host<const std::byte>(arguments.inputs[0]);
    auto* const out = host<std::byte>(arguments.outputs[0]);
    const auto out_rows = static_cast<int64_t>(rows_.size());
    const int64_t row_bytes = static_cast<int64_t>(columns_.size()) * g_.pixel_bytes;
    const auto grain = static_cast<uint64_t>(kNearestGrain / row_bytes + 1);
    parallel_for(static_cast<uint64_t>(g_.pictures * out_rows), grain, [&](uint64_t begin, uint64_t end) {
      for (auto i = static_cast<int64_t>(begin); i < static_cast<int64_t>(end); ++i) {
        const int64_t row = rows_[static_cast<size_t>(i % out_rows)];
        std::byte* const to = out + i * row_bytes;
        const bool is_known =
            i > static_cast<int64_t>(begin) && i % out_rows > 0 && rows_[static_cast<size_t>(i % out_rows - 1)] == row;
        if (is_known)
          std::memcpy(to, to - row_bytes, static_cast<size_t>(row_bytes));
        else
          take(in + (i / out_rows * g_.rows + row) * g_.columns * g_.pixel_bytes, to);
      }
    });
  }

 private:
  void take(const std::byte* from, std::byte* to) const {
    if (g_.pixel_bytes == 4) return take_pixels<4>(from, to);
    if (g_.pixel_bytes == 2) return take_pixels<2>(from, to);
    if (g_.pixel_bytes == 1) return take_pixels<1>(from, to);
    take_pixels<0>(from, to);
  }
  // kBytes: of a pixel; 0: as many as there are.
  template <size_t kBytes>
  void take_pixels(const std::byte* from, std::byte* to) const {
    const size_t bytes = kBytes == 0 ? static_cast<size_t>(g_.pixel_bytes) : kBytes;
    for (const int64_t column : columns_) {
      std::memcpy(to, from + static_cast<size_t>(column) * bytes, bytes);
      to += bytes;
    }
  }

  Geometry g_;
  std::vector<int64_t> rows_, columns_;
};

std::vector<int64_t> places_of(const ops::Node& facts, const ops::ResampledAxis& axis) {
  std::vector<int64_t> places;
  for (int64_t x = 0; x < axis.out; ++x) {
    const double place = ops::original_place(ops::resize_coordinate_mode(facts), axis, x);
    places.push_back(
        ops::is_unchanged(axis) ? x : ops::nearest_element(ops::resize_nearest_mode(facts, axis.scale), place, axis));
  }
  return places;
}

class Nearest final : public Implementation {
 public:
  std::string_view name() const override { return "resize.nearest"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    const ResizeForm* const form = resize_of(layer);
    if (form == nullptr || form->axes.size() != 4) return {};
    const std::vector<ops::ResampledAxis>& plan = form->axes;
    const ops::Node facts = layer.facts(layer.nodes[0]);
    const TensorDesc& in = layer.inputs[0];
    if (ops::resize_mode(facts) != ops::ResizeMode::nearest || tensor::bit_width(in.dtype) % 8 != 0) return {};
    if (!ops::is_unchanged(plan[0]) || !ops::is_unchanged(plan[1])) return {};
    const int64_t channels =
        has_layout(in, Layout::plain) && has_layout(layer.outputs[0], Layout::plain) ? 1 : in.dims[1];
    const Geometry geometry{in.dims[0] * (in.dims[1] / channels), in.dims[2], in.dims[3],
                            channels * tensor::bit_width(in.dtype) / 8};
    return std::make_unique<NearestKernel>(geometry, places_of(facts, plan[2]), places_of(facts, plan[3]));
  }
};

}  // namespace

KernelFamily cpu_kernel_nearest() { return family_of<Nearest>(); }

}  // namespace assay::engine::cpu
