// Concat, Gather of rows, GatherElements, and resizing to the nearest element.
#include <algorithm>
#include <cstring>

#include "base/parallel.h"
#include "engine/devices/cpu/copy.h"
#include "engine/devices/cpu/device.h"
#include "ops/kernels/movement/places.h"
#include "tensor/elements.h"

namespace assay::engine::cpu {
namespace {

class Concat final : public Implementation {
 public:
  std::string_view name() const override { return "movement.concat"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    if (!layer.is_single() || !layer.starts_with("Concat")) return {};
    const TensorDesc& out = layer.outputs[0];
    const int64_t axis =
        ops::normalize_axis(layer.facts(layer.nodes[0]).integer("axis", 1), static_cast<int64_t>(out.dims.size()));
    std::vector<CopyPart> parts;
    int64_t at = 0;
    for (size_t i = 0; i < layer.inputs.size(); ++i) {
      const TensorDesc& from = layer.inputs[i];
      if (from.dtype != out.dtype || from.dims.size() != out.dims.size()) return {};
      const TensorDesc to{out.dtype, from.dims, out.strides};
      parts.push_back({i, from, to, at * out.strides[static_cast<size_t>(axis)]});
      at += from.dims[static_cast<size_t>(axis)];
    }
    return make_copies(parts);
  }
};

// Rows of a table, by indices.
template <typename Index>
class GatherKernel final : public PlainKernel {
 public:
  GatherKernel(int64_t outer, int64_t rows, int64_t indices, uint64_t row_bytes)
      : outer_(outer), rows_(rows), indices_(indices), row_bytes_(row_bytes) {}
  void run(const Arguments& arguments) const override {
    const auto* const data = host<const std::byte>(arguments.inputs[0]);
    const auto* const indices = host<const Index>(arguments.inputs[1]);
    auto* out = host<std::byte>(arguments.outputs[0]);
    for (int64_t o = 0; o < outer_; ++o) {
      for (int64_t i = 0; i < indices_; ++i, out += row_bytes_) {
        int64_t row = indices[i];
        if (row < -rows_ || row >= rows_) fail(ErrorCode::usage, "index {} is not in [{}, {}]", row, -rows_, rows_ - 1);
        if (row < 0) row += rows_;
        std::memcpy(out, data + static_cast<uint64_t>(o * rows_ + row) * row_bytes_, row_bytes_);
      }
    }
  }

 private:
  int64_t outer_, rows_, indices_;
  uint64_t row_bytes_;
};

class Gather final : public Implementation {
 public:
  std::string_view name() const override { return "movement.gather"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    if (!layer.is_single() || !layer.starts_with("Gather")) return {};
    const TensorDesc& data = layer.inputs[0];
    for (const TensorDesc& desc : {data, layer.inputs[1], layer.outputs[0]}) {
      if (!has_layout(desc, Layout::plain) || desc.dtype == tensor::DType::string) return {};
    }
    const auto axis = static_cast<size_t>(
        ops::normalize_axis(layer.facts(layer.nodes[0]).integer("axis", 0), static_cast<int64_t>(data.dims.size())));
    int64_t outer = 1;
    auto row_bytes = static_cast<uint64_t>(tensor::bit_width(data.dtype) / 8);
    for (size_t i = 0; i < data.dims.size(); ++i) {
      if (i < axis) outer *= data.dims[i];
      if (i > axis) row_bytes *= static_cast<uint64_t>(data.dims[i]);
    }
    const int64_t rows = data.dims[axis];
    const int64_t indices = layer.inputs[1].count();
    if (layer.inputs[1].dtype == tensor::DType::int64) {
      return std::make_unique<GatherKernel<int64_t>>(outer, rows, indices, row_bytes);
    }
    if (layer.inputs[1].dtype != tensor::DType::int32) return {};
    return std::make_unique<GatherKernel<int32_t>>(outer, rows, indices, row_bytes);
  }
};

// An element for each index along an axis.
template <typename Index, typename Element>
class GatherElementsKernel final : public PlainKernel {
 public:
  GatherElementsKernel(const TensorDesc& data, const tensor::Shape& indices, size_t axis)
      : indexed_(data.dims, indices, axis), count_(static_cast<uint64_t>(make_desc(data.dtype, indices).count())) {}

  void run(const Arguments& arguments) const override {
    const auto* const data = host<const Element>(arguments.inputs[0]);
    const auto* const indices = host<const Index>(arguments.inputs[1]);
    auto* const out = host<Element>(arguments.outputs[0]);
    const auto row = static_cast<uint64_t>(indexed_.shape.back());
    const auto step = static_cast<uint64_t>(indexed_.strides.back());
    parallel_for(count_ / row, kGrain / row + 1, [&](uint64_t begin, uint64_t end) {
      for (uint64_t r = begin; r < end; ++r) {
        auto place = static_cast<uint64_t>(ops::strided_place(r * row, indexed_.shape, indexed_.strides));
        for (uint64_t i = r * row; i < (r + 1) * row; ++i, place += step) {
          const auto index = static_cast<int64_t>(indices[i]);
          const bool is_plain = static_cast<uint64_t>(index) < indexed_.length;
          const uint64_t element = is_plain ? static_cast<uint64_t>(index) : ops::checked_index(index, indexed_.length);
          out[i] = data[place + element * indexed_.step];
        }
      }
    });
  }

 private:
  static constexpr uint64_t kGrain = 1 << 14;  // elements

  ops::IndexedPlaces indexed_;
  uint64_t count_;
};

class GatherElements final : public Implementation {
 public:
  std::string_view name() const override { return "movement.gather_elements"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    if (!layer.is_single() || !layer.starts_with("GatherElements")) return {};
    for (const TensorDesc& desc : {layer.inputs[0], layer.inputs[1], layer.outputs[0]}) {
      if (!has_layout(desc, Layout::plain) || desc.count() == 0 || desc.dims.empty()) return {};
    }
    return layer.inputs[1].dtype == tensor::DType::int64 ? make_for<int64_t>(layer) : make_for<int32_t>(layer);
  }

 private:
  template <typename Index>
  static std::unique_ptr<Kernel> make_for(const Layer& layer) {
    switch (tensor::bit_width(layer.outputs[0].dtype)) {
      case 8:
        return make_with<Index, uint8_t>(layer);
      case 16:
        return make_with<Index, uint16_t>(layer);
      case 32:
        return make_with<Index, uint32_t>(layer);
      case 64:
        return make_with<Index, uint64_t>(layer);
      default:
        return {};
    }
  }
  template <typename Index, typename Element>
  static std::unique_ptr<Kernel> make_with(const Layer& layer) {
    const auto rank = static_cast<int64_t>(layer.inputs[0].dims.size());
    const int64_t axis = ops::normalize_axis(layer.facts(layer.nodes[0]).integer("axis", 0), rank);
    return std::make_unique<GatherElementsKernel<Index, Element>>(layer.inputs[0], layer.inputs[1].dims,
                                                                  static_cast<size_t>(axis));
  }
};

// Whole multiples of pictures: every pixel stands for itself and its new neighbours. Where channels are innermost, they
// are the pixel.
class EnlargeKernel final : public PlainKernel {
 public:
  EnlargeKernel(const TensorDesc& in, const TensorDesc& out)
      : height_(in.dims[2]), width_(in.dims[3]), by_y_(out.dims[2] / height_), by_x_(out.dims[3] / width_) {
    const bool is_plain = has_layout(in, Layout::plain) && has_layout(out, Layout::plain);
    images_ = in.dims[0] * (is_plain ? in.dims[1] : 1);
    pixel_ = static_cast<size_t>((is_plain ? 1 : in.dims[1]) * tensor::bit_width(in.dtype) / 8);
  }
  void run(const Arguments& arguments) const override {
    const auto* const in = host<const std::byte>(arguments.inputs[0]);
    auto* const out = host<std::byte>(arguments.outputs[0]);
    const size_t row = static_cast<size_t>(width_) * pixel_;
    const size_t wide = row * static_cast<size_t>(by_x_);
    const auto grain = static_cast<uint64_t>(kGrain / (wide * static_cast<size_t>(by_y_)) + 1);
    parallel_for(static_cast<uint64_t>(images_ * height_), grain, [&](uint64_t begin, uint64_t end) {
      for (uint64_t y = begin; y < end; ++y) {
        std::byte* const to = out + y * wide * static_cast<size_t>(by_y_);
        widen(in + y * row, to);
        for (int64_t again = 1; again < by_y_; ++again) std::memcpy(to + static_cast<size_t>(again) * wide, to, wide);
      }
    });
  }

 private:
  static constexpr size_t kGrain = 1 << 16;  // bytes

  void widen(const std::byte* from, std::byte* to) const {
    if (pixel_ == sizeof(uint32_t)) return repeat<sizeof(uint32_t)>(from, to, sizeof(uint32_t));
    if (pixel_ == 1) return repeat<1>(from, to, 1);
    repeat<0>(from, to, pixel_);
  }
  // kPixel: how many bytes a pixel has, or 0 where `pixel` says it.
  template <size_t kPixel>
  void repeat(const std::byte* from, std::byte* to, size_t pixel) const {
    const size_t size = kPixel == 0 ? pixel : kPixel;
    for (int64_t x = 0; x < width_; ++x, from += size) {
      for (int64_t again = 0; again < by_x_; ++again, to += size) std::memcpy(to, from, size);
    }
  }

  int64_t height_, width_, by_y_, by_x_;
  int64_t images_ = 0;
  size_t pixel_ = 0;
};

class Enlarge final : public Implementation {
 public:
  std::string_view name() const override { return "resize.enlarge"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    if (!layer.is_single() || !layer.starts_with("Resize") || layer.inputs[0].dims.size() != 4) return {};
    const TensorDesc& in = layer.inputs[0];
    const TensorDesc& out = layer.outputs[0];
    const auto both = [&](Layout layout) { return has_layout(in, layout) && has_layout(out, layout); };
    if (!both(Layout::plain) && !both(Layout::channels_last)) return {};
    if (tensor::bit_width(in.dtype) % 8 != 0 || in.count() == 0 || out.count() == 0) return {};
    const bool keeps = in.dims[0] == out.dims[0] && in.dims[1] == out.dims[1];
    const bool is_multiple = out.dims[2] % in.dims[2] == 0 && out.dims[3] % in.dims[3] == 0;
    if (!keeps || !is_multiple || !is_nearest(layer, in, out)) return {};
    return std::make_unique<EnlargeKernel>(in, out);
  }

 private:
  // With whole factors, these ways of counting all name the same pixel.
  static bool is_nearest(const Layer& layer, const TensorDesc& in, const TensorDesc& out) {
    const ops::Node facts = layer.facts(layer.nodes[0]);
    constexpr int64_t kFirstWithCoordinates = 11;
    if (facts.version() < kFirstWithCoordinates || facts.string("mode", "nearest") != "nearest") return false;
    if (facts.has_attribute("axes") || facts.has_attribute("antialias")) return false;
    const std::string_view coordinates = facts.string("coordinate_transformation_mode", "half_pixel");
    const std::string_view rounding = facts.string("nearest_mode", "round_prefer_floor");
    const bool is_asymmetric = coordinates == "asymmetric" && rounding == "floor";
    const bool is_half =
        coordinates == "half_pixel" && (rounding == "round_prefer_floor" || rounding == "round_prefer_ceil");
    return (is_asymmetric || is_half) && has_whole_scales(layer, in, out);
  }
  static bool has_whole_scales(const Layer& layer, const TensorDesc& in, const TensorDesc& out) {
    const tensor::Tensor* const scales = layer.constant(layer.operand(layer.nodes[0], 2));
    if (scales == nullptr || scales->count() == 0) return layer.constant(layer.operand(layer.nodes[0], 3)) != nullptr;
    const std::vector<double> factors = tensor::load_elements<double>(*scales);
    for (size_t i = 0; i < factors.size(); ++i) {
      if (factors[i] * static_cast<double>(in.dims[i]) != static_cast<double>(out.dims[i])) return false;
    }
    return true;
  }
};

Implementations make_all(const Libraries&) {
  Implementations all;
  all.push_back(std::make_unique<Concat>());
  all.push_back(std::make_unique<Gather>());
  all.push_back(std::make_unique<GatherElements>());
  all.push_back(std::make_unique<Enlarge>());
  return all;
}

}  // namespace

KernelFamily cpu_kernel_movement() { return {make_all}; }

}  // namespace assay::engine::cpu
