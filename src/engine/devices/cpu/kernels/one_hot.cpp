// OneHot of whole numbers and of float32.
#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "engine/devices/cpu/device.h"
#include "engine/devices/cpu/parts.h"

namespace assay::engine::cpu {
namespace {

// A group has rows of `inner` elements, one for each index of the depth, and as many indices as a row has elements.
struct OneHotForm {
  int64_t groups = 1, depth = 1, inner = 1;
  bool counts_back = false;  // negative indices count from the end
};

template <typename Index, typename Element>
class OneHotKernel final : public PlainKernel {
 public:
  explicit OneHotKernel(const OneHotForm& form) : form_(form) {}

  void run(const Arguments& arguments) const override {
    const int64_t parts = parts_of(form_.inner, kColumns);
    const int64_t of_part = form_.depth * std::min(form_.inner, kColumns);
    const auto grain = static_cast<uint64_t>(kGrain / of_part + 1);
    parallel_for(static_cast<uint64_t>(form_.groups * parts), grain, [&](uint64_t begin, uint64_t end) {
      const auto first = static_cast<int64_t>(begin), last = static_cast<int64_t>(end);
      if (parts == 1) return run_groups(arguments, first, last);
      for (int64_t i = first; i < last; ++i) run_columns(arguments, i / parts, i % parts * kColumns);
    });
  }

 private:
  static constexpr int64_t kColumns = 4096;
  static constexpr int64_t kGrain = 1 << 14;  // elements

  void run_groups(const Arguments& arguments, int64_t first, int64_t last) const {
    const auto* const values = host<const Element>(arguments.inputs[2]);
    const int64_t count = form_.depth * form_.inner;
    std::fill_n(host<Element>(arguments.outputs[0]) + first * count, (last - first) * count, values[0]);
    for (int64_t group = first; group < last; ++group) mark(arguments, group, 0, form_.inner);
  }

  // So many columns at most of a group's rows.
  void run_columns(const Arguments& arguments, int64_t group, int64_t first) const {
    const auto* const values = host<const Element>(arguments.inputs[2]);
    const int64_t columns = std::min(kColumns, form_.inner - first);
    auto* const out = host<Element>(arguments.outputs[0]) + group * form_.depth * form_.inner + first;
    for (int64_t row = 0; row < form_.depth; ++row) std::fill_n(out + row * form_.inner, columns, values[0]);
    mark(arguments, group, first, columns);
  }

  void mark(const Arguments& arguments, int64_t group, int64_t first, int64_t columns) const {
    const auto* const indices = host<const Index>(arguments.inputs[0]) + group * form_.inner + first;
    auto* const out = host<Element>(arguments.outputs[0]) + group * form_.depth * form_.inner + first;
    const Element on = host<const Element>(arguments.inputs[2])[1];
    for (int64_t i = 0; i < columns; ++i) {
      const int64_t row = row_of(indices[i]);
      if (row >= 0 && row < form_.depth) out[row * form_.inner + i] = on;
    }
  }

  int64_t row_of(Index index) const {
    constexpr double kMost = 0x1p62;
    if constexpr (std::is_floating_point_v<Index>) {
      if (!(std::abs(static_cast<double>(index)) < kMost)) return -1;
    }
    const auto row = static_cast<int64_t>(index);
    return row < 0 && form_.counts_back ? row + form_.depth : row;
  }

  OneHotForm form_;
};

template <typename Index>
std::unique_ptr<Kernel> make_for(const OneHotForm& form, tensor::DType dtype) {
  if (dtype == tensor::DType::string) return {};
  switch (tensor::bit_width(dtype)) {
    case 8:
      return std::make_unique<OneHotKernel<Index, uint8_t>>(form);
    case 16:
      return std::make_unique<OneHotKernel<Index, uint16_t>>(form);
    case 32:
      return std::make_unique<OneHotKernel<Index, uint32_t>>(form);
    case 64:
      return std::make_unique<OneHotKernel<Index, uint64_t>>(form);
    default:
      return {};
  }
}

class OneHot final : public Implementation {
 public:
  std::string_view name() const override { return "movement.one_hot"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    constexpr int64_t kFirstCountingBack = 11;
    if (!layer.is_single() || !layer.starts_with("OneHot") || !layer.lies_plainly()) return {};
    const TensorDesc& out = layer.outputs[0];
    if (out.count() == 0) return {};
    const ops::Node facts = layer.facts(layer.nodes[0]);
    OneHotForm form{.counts_back = facts.version() >= kFirstCountingBack};
    const int64_t axis = ops::normalize_axis(facts.integer("axis", -1), static_cast<int64_t>(out.dims.size()));
    for (size_t i = 0; i < out.dims.size(); ++i) {
      const auto dim = static_cast<int64_t>(i);
      (dim < axis ? form.groups : dim == axis ? form.depth : form.inner) *= out.dims[i];
    }
    switch (layer.inputs[0].dtype) {
      case tensor::DType::int64:
        return make_for<int64_t>(form, out.dtype);
      case tensor::DType::int32:
        return make_for<int32_t>(form, out.dtype);
      case tensor::DType::float32:
        return make_for<float>(form, out.dtype);
      default:
        return {};
    }
  }
};

}  // namespace

KernelFamily cpu_kernel_one_hot() { return family_of<OneHot>(); }

}  // namespace assay::engine::cpu
