// Pad in all its modes, of planes or with the channels innermost.
#include "engine/layers/padding.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/parallel.h"
#include "engine/devices/cpu/device.h"

namespace assay::engine::cpu {
namespace {

template <typename T>
void fill_with(std::byte* out, uint64_t bytes, const std::byte* element) {
  T value;
  std::memcpy(&value, element, sizeof(T));
  std::fill_n(reinterpret_cast<T*>(out), bytes / sizeof(T), value);
}

// The filling of places for which nothing comes from the operand: zeros, unless it is given, when the model is planned
// or in each run.
struct Filler {
  uint64_t bytes = 1;  // of an element
  std::array<std::byte, Padding::kLongestElement> value{};
  bool is_input = false;

  void fill(const std::byte* element, std::byte* out, uint64_t count) const {
    if (bytes == 1) return fill_with<uint8_t>(out, count, element);
    if (bytes == 2) return fill_with<uint16_t>(out, count, element);
    if (bytes == 4) return fill_with<uint32_t>(out, count, element);
    if (bytes == 8) return fill_with<uint64_t>(out, count, element);
    for (uint64_t i = 0; i < count; i += bytes) std::memcpy(out + i, element, bytes);
  }
};

// An axis outside of rows.
struct OuterAxis {
  ops::AxisMap map;
  int64_t step;  // bytes in the operand
};

// Rows are made of what lies along the innermost axis that is padded; elements of it, with all that lies inside of it,
// are `unit` bytes.
class PadKernel final : public PlainKernel {
 public:
  PadKernel(std::vector<OuterAxis> outer, const ops::AxisMap& row, uint64_t unit, const Filler& filler)
      : outer_(std::move(outer)), row_bytes_(row.size() * unit), filler_(filler) {
    for (const ops::AxisRun& run : ops::runs_of(row)) {
      const int64_t source = run.source == ops::kNowhere ? run.source : run.source * static_cast<int64_t>(unit);
      runs_.push_back({run.target * unit, source, run.count * unit});
    }
    for (const OuterAxis& axis : outer_) rows_ *= axis.map.size();
  }

  void run(const Arguments& arguments) const override {
    const auto* const in = host<const std::byte>(arguments.inputs[0]);
    auto* const out = host<std::byte>(arguments.outputs[0]);
    const std::byte* const element =
        filler_.is_input ? host<const std::byte>(arguments.inputs[Padding::kFiller]) : filler_.value.data();
    parallel_for(rows_, kGrain / row_bytes_ + 1, [&](uint64_t begin, uint64_t end) {
      for (uint64_t row = begin; row < end; ++row) {
        const int64_t source = source_of_row(row);
        std::byte* const to = out + row * row_bytes_;
        if (source == ops::kNowhere)
          filler_.fill(element, to, row_bytes_);
        else
          make_row(in + source, element, to);
      }
    });
  }

 private:
  static constexpr uint64_t kGrain = 1 << 15;  // bytes

  int64_t source_of_row(uint64_t row) const {
    int64_t source = 0;
    for (size_t a = outer_.size(); a-- > 0;) {
      const ops::AxisMap& map = outer_[a].map;
      const int64_t index = map[row % map.size()];
      if (index == ops::kNowhere) return ops::kNowhere;
      source += index * outer_[a].step;
      row /= map.size();
    }
    return source;
  }

  void make_row(const std::byte* from, const std::byte* element, std::byte* to) const {
    for (const ops::AxisRun& run : runs_) {
      if (run.source == ops::kNowhere)
        filler_.fill(element, to + run.target, run.count);
      else if (run.count == sizeof(float))
        std::memcpy(to + run.target, from + run.source, sizeof(float));
      else
        std::memcpy(to + run.target, from + run.source, run.count);
    }
  }

  std::vector<OuterAxis> outer_;
  std::vector<ops::AxisRun> runs_;  // of a row, in bytes
  uint64_t rows_ = 1;
  uint64_t row_bytes_;
  Filler filler_;
};

std::unique_ptr<Kernel> make_pad(std::vector<ops::AxisMap> maps, const TensorDesc& in, Layout layout,
                                 const Filler& filler) {
  std::vector<OuterAxis> axes;  // outermost first
  std::vector<size_t> order(in.dims.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  if (layout == Layout::channels_last) std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  auto step = static_cast<int64_t>(filler.bytes);
  for (size_t i = order.size(); i-- > 0;) {
    axes.insert(axes.begin(), {std::move(maps[order[i]]), step});
    step *= in.dims[order[i]];
  }
  const auto is_whole = [&](const OuterAxis& axis, size_t dim) {
    const std::vector<ops::AxisRun> runs = ops::runs_of(axis.map);
    return runs.size() == 1 && runs[0].source == 0 && static_cast<int64_t>(runs[0].count) == in.dims[dim];
  };
  while (axes.size() > 1 && is_whole(axes.back(), order[axes.size() - 1])) axes.pop_back();
  const OuterAxis row = std::move(axes.back());
  axes.pop_back();
  return std::make_unique<PadKernel>(std::move(axes), row.map, static_cast<uint64_t>(row.step), filler);
}

class Pad final : public Implementation {
 public:
  std::string_view name() const override { return "movement.pad"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    std::optional<Padding> padding = find_padding(layer);
    if (!padding) return {};
    const TensorDesc& in = layer.inputs[0];
    const TensorDesc& out = layer.outputs[0];
    const bool are_plain = has_layout(in, Layout::plain) && has_layout(out, Layout::plain);
    const bool are_pixels = has_layout(in, Layout::channels_last) && has_layout(out, Layout::channels_last);
    if (!are_plain && !are_pixels) return {};
    const Filler filler{tensor::bit_width(in.dtype) / 8, padding->filler, padding->is_filler_given};
    return make_pad(std::move(padding->maps), in, are_plain ? Layout::plain : Layout::channels_last, filler);
  }
};

}  // namespace

KernelFamily cpu_kernel_padding() { return family_of<Pad>(); }

}  // namespace assay::engine::cpu
