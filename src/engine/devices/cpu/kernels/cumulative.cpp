// CumSum along one dim.
#include <algorithm>
#include <array>
#include <type_traits>

#include "base/parallel.h"
#include "engine/devices/cpu/device.h"
#include "tensor/elements.h"

namespace assay::engine::cpu {
namespace {

constexpr int64_t kColumns = 64;               // that are summed up side by side
constexpr int64_t kCumulativeGrain = 1 << 14;  // elements

struct CumulativeSum {
  int64_t groups = 1, length = 1, inner = 1;  // dims before the one, itself, and behind it
  bool is_exclusive = false;
  bool is_reverse = false;
};

// Floats are summed up in float64, as the reference does; integers wrap around.
template <typename T>
struct TotalOf {
  using Type = std::make_unsigned_t<T>;
};
template <>
struct TotalOf<float> {
  using Type = double;
};

template <typename T>
class CumulativeKernel final : public PlainKernel {
 public:
  explicit CumulativeKernel(const CumulativeSum& sum) : sum_(sum) {}

  void run(const Arguments& arguments) const override {
    const T* const in = host<const T>(arguments.inputs[0]);
    T* const out = host<T>(arguments.outputs[0]);
    const int64_t parts = (sum_.inner + kColumns - 1) / kColumns;
    const int64_t of_part = sum_.length * std::min(kColumns, sum_.inner);
    const auto grain = static_cast<uint64_t>(std::max<int64_t>(1, kCumulativeGrain / of_part));
    parallel_for(static_cast<uint64_t>(sum_.groups * parts), grain, [&](uint64_t begin, uint64_t end) {
      for (auto i = static_cast<int64_t>(begin); i < static_cast<int64_t>(end); ++i) {
        const int64_t column = i % parts * kColumns;
        const int64_t first = i / parts * sum_.length * sum_.inner + column;
        run_columns(in + first, out + first, static_cast<size_t>(std::min(kColumns, sum_.inner - column)));
      }
    });
  }

 private:
  using Total = typename TotalOf<T>::Type;

  void run_columns(const T* in, T* out, size_t count) const {
    std::array<Total, kColumns> totals{};
    for (int64_t step = 0; step < sum_.length; ++step) {
      const int64_t row = (sum_.is_reverse ? sum_.length - 1 - step : step) * sum_.inner;
      const T* const from = in + row;
      T* const to = out + row;
      const bool is_first = step == 0 && !sum_.is_exclusive;  // -0 stays as it is
      for (size_t c = 0; c < count; ++c) {
        const Total before = totals[c];
        totals[c] = is_first ? static_cast<Total>(from[c]) : before + static_cast<Total>(from[c]);
        to[c] = static_cast<T>(sum_.is_exclusive ? before : totals[c]);
      }
    }
  }

  CumulativeSum sum_;
};

class Cumulative final : public Implementation {
 public:
  std::string_view name() const override { return "cumulative.columns"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    if (!layer.is_single() || !layer.starts_with("CumSum") || layer.constants[1] == nullptr) return {};
    const TensorDesc& in = layer.inputs[0];
    if (!has_layout(in, Layout::plain) || !has_layout(layer.outputs[0], Layout::plain) || in.count() == 0) return {};
    const ops::Node facts = layer.facts(layer.nodes[0]);
    const int64_t axis = ops::normalize_axis(tensor::load_elements<int64_t>(*layer.constants[1]).front(),
                                             static_cast<int64_t>(in.dims.size()));
    CumulativeSum sum{.is_exclusive = facts.flag("exclusive"), .is_reverse = facts.flag("reverse")};
    for (size_t i = 0; i < in.dims.size(); ++i) {
      const auto dim = static_cast<int64_t>(i);
      (dim < axis ? sum.groups : dim == axis ? sum.length : sum.inner) *= in.dims[i];
    }
    switch (in.dtype) {
      case tensor::DType::float32:
        return std::make_unique<CumulativeKernel<float>>(sum);
      case tensor::DType::int32:
        return std::make_unique<CumulativeKernel<int32_t>>(sum);
      case tensor::DType::int64:
        return std::make_unique<CumulativeKernel<int64_t>>(sum);
      default:
        return {};
    }
  }
};

Implementations make_cumulative_kernels(const Libraries&) {
  Implementations all;
  all.push_back(std::make_unique<Cumulative>());
  return all;
}

}  // namespace

KernelFamily cpu_kernel_cumulative() { return {make_cumulative_kernels}; }

}  // namespace assay::engine::cpu
