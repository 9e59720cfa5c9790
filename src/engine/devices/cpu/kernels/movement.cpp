// Concat, Gather of rows, GatherElements, and blocks between depth and space.
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
    auto* const out = host<std::byte>(arguments.outputs[0]);
    const uint64_t grain = kGrain / std::max<uint64_t>(row_bytes_, sizeof(Index)) + 1;
    parallel_for(static_cast<uint64_t>(outer_ * indices_), grain, [&](uint64_t begin, uint64_t end) {
      const auto count = static_cast<uint64_t>(indices_);
      for (uint64_t at = begin; at < end;) {
        const uint64_t first = at % count, last = std::min(count, first + end - at);
        const std::byte* const from = data + at / count * static_cast<uint64_t>(rows_) * row_bytes_;
        take(from, {indices + first, indices + last}, out + at * row_bytes_);
        at += last - first;
      }
    });
  }

 private:
  static constexpr uint64_t kGrain = 1 << 15;  // bytes

  void take(const std::byte* from, std::span<const Index> indices, std::byte* out) const {
    if (row_bytes_ == sizeof(uint32_t)) return take_rows<sizeof(uint32_t)>(from, indices, out);
    if (row_bytes_ == sizeof(uint64_t)) return take_rows<sizeof(uint64_t)>(from, indices, out);
    take_rows<0>(from, indices, out);
  }
  // Rows of so many bytes; 0: as many as they have.
  template <uint64_t kBytes>
  void take_rows(const std::byte* from, std::span<const Index> indices, std::byte* out) const {
    const uint64_t bytes = kBytes == 0 ? row_bytes_ : kBytes;
    for (const int64_t index : indices) {
      std::memcpy(out, from + ops::checked_index(index, static_cast<uint64_t>(rows_)) * bytes, bytes);
      out += bytes;
    }
  }

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

// DepthToSpace and SpaceToDepth, by what is one element of both: [image, block row, block column, channel, row,
// column].
class Blocks final : public Implementation {
 public:
  std::string_view name() const override { return "movement.blocks"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    const bool is_to_space = layer.starts_with("DepthToSpace");
    if (!layer.is_single() || (!is_to_space && !layer.starts_with("SpaceToDepth"))) return {};
    const ops::Node facts = layer.facts(layer.nodes[0]);
    const int64_t block = facts.integer("blocksize", 1);
    const TensorDesc& in = layer.inputs[0];
    const TensorDesc& out = layer.outputs[0];
    if (tensor::bit_width(in.dtype) % 8 != 0 || in.count() == 0) return {};
    const bool is_depth_first = facts.string("mode", "DCR") == "DCR";
    const TensorDesc deep = deep_desc(is_to_space ? in : out, block, is_depth_first);
    const TensorDesc wide = wide_desc(is_to_space ? out : in, block);
    return make_copies({{0, is_to_space ? deep : wide, is_to_space ? wide : deep, 0}});
  }

 private:
  static TensorDesc deep_desc(const TensorDesc& desc, int64_t block, bool is_depth_first) {
    const int64_t channels = desc.dims[1] / (block * block);
    const int64_t channel = is_depth_first ? desc.strides[1] : block * block * desc.strides[1];
    const int64_t column = is_depth_first ? channels * desc.strides[1] : desc.strides[1];
    return {desc.dtype,
            {desc.dims[0], block, block, channels, desc.dims[2], desc.dims[3]},
            {desc.strides[0], block * column, column, channel, desc.strides[2], desc.strides[3]}};
  }
  static TensorDesc wide_desc(const TensorDesc& desc, int64_t block) {
    return {desc.dtype,
            {desc.dims[0], block, block, desc.dims[1], desc.dims[2] / block, desc.dims[3] / block},
            {desc.strides[0], desc.strides[2], desc.strides[3], desc.strides[1], block * desc.strides[2],
             block * desc.strides[3]}};
  }
};

}  // namespace

KernelFamily cpu_kernel_movement() { return family_of<Concat, Gather, GatherElements, Blocks>(); }

}  // namespace assay::engine::cpu
