// CumSum along one dim.
#include "engine/layers/cumulative.h"

#include <array>
#include <type_traits>

#include "engine/devices/cpu/device.h"
#include "engine/devices/cpu/middle_dim.h"

namespace assay::engine::cpu {
namespace {

constexpr int64_t kColumns = 64;  // that are summed up side by side

struct CumulativeSum {
  MiddleDim dim;
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
    sum_.dim.for_columns<kColumns>(
        [&](int64_t first, int64_t columns) { run_columns(in + first, out + first, static_cast<size_t>(columns)); });
  }

 private:
  using Total = typename TotalOf<T>::Type;

  void run_columns(const T* in, T* out, size_t count) const {
    std::array<Total, kColumns> totals{};
    for (int64_t step = 0; step < sum_.dim.length; ++step) {
      const int64_t row = (sum_.is_reverse ? sum_.dim.length - 1 - step : step) * sum_.dim.inner;
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
    const std::optional<CumulativeForm> form = find_cumulative(layer);
    if (!form) return {};
    const TensorDesc& in = layer.inputs[0];
    const CumulativeSum sum{MiddleDim(in, form->axis), form->is_exclusive, form->is_reverse};
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

}  // namespace

KernelFamily cpu_kernel_cumulative() { return family_of<Cumulative>(); }

}  // namespace assay::engine::cpu
