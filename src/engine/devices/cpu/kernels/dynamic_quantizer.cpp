// DynamicQuantizeLinear: codes of a tensor, with the scale and zero point that its range asks for.
#include <algorithm>
#include <cmath>
#include <mutex>

#include "base/parallel.h"
#include "engine/devices/cpu/device.h"
#include "engine/devices/cpu/rows/row_kernels.h"
#include "engine/devices/cpu/tape/tape_kernels.h"

namespace assay::engine::cpu {
namespace {

constexpr uint64_t kQuantizerGrain = 1 << 14;  // elements

class DynamicQuantizerKernel final : public PlainKernel {
 public:
  explicit DynamicQuantizerKernel(uint64_t count) : count_(count) {}

  void run(const Arguments& arguments) const override {
    const auto* const x = host<const float>(arguments.inputs[0]);
    float& scale = *host<float>(arguments.outputs[1]);
    uint8_t& zero = *host<uint8_t>(arguments.outputs[2]);
    constexpr float kMostCode = 255;
    const auto [least, greatest] = range_of(x);
    scale = greatest == least ? 1 : (greatest - least) / kMostCode;
    const float code = std::nearbyint(-least / scale);
    zero = static_cast<uint8_t>(code > 0 ? std::min(code, kMostCode) : 0);  // 0 for NaN
    quantize(x, host<uint8_t>(arguments.outputs[0]), scale, zero);
  }

 private:
  // Zero lies in it.
  std::pair<float, float> range_of(const float* x) const {
    std::mutex mutex;
    float least = 0;
    float greatest = 0;
    parallel_for(count_, kQuantizerGrain, [&](uint64_t begin, uint64_t end) {
      float low = 0;
      float high = 0;
      row_kernels().range(x + begin, end - begin, low, high);
      const std::lock_guard guard(mutex);
      least = std::min(least, low);
      greatest = std::max(greatest, high);
    });
    return {least, greatest};
  }

  void quantize(const float* x, uint8_t* out, float scale, uint8_t zero) const {
    parallel_for((count_ + kTapeTile - 1) / kTapeTile, kQuantizerGrain / kTapeTile, [&](uint64_t begin, uint64_t end) {
      alignas(64) float tile[kTapeTile];
      for (uint64_t at = begin * kTapeTile; at < std::min(end * kTapeTile, count_); at += kTapeTile) {
        const size_t size = std::min<uint64_t>(kTapeTile, count_ - at);
        std::copy_n(x + at, size, tile);  // kernels read whole vectors
        tape_kernels().unary(ElementOp::quantize_unsigned, {tile, 0}, {tile, 0, 1, size}, scale, zero);
        row_kernels().narrow_byte(tile, out + at, size);
      }
    });
  }

  uint64_t count_;
};

class DynamicQuantizer final : public Implementation {
 public:
  std::string_view name() const override { return "quantize.dynamic"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    if (!layer.starts_with("DynamicQuantizeLinear") || !layer.is_single() || layer.outputs.size() != 3) return {};
    const TensorDesc& in = layer.inputs[0];
    const bool is_known = in.dtype == tensor::DType::float32 && is_dense(in) && in.strides == layer.outputs[0].strides;
    const bool has_all = std::ranges::all_of(layer.outputs, &TensorDesc::exists);
    if (!is_known || !has_all || in.count() == 0) return {};
    return std::make_unique<DynamicQuantizerKernel>(static_cast<uint64_t>(in.count()));
  }
};

}  // namespace

KernelFamily cpu_kernel_dynamic_quantizer() { return family_of<DynamicQuantizer>(); }

}  // namespace assay::engine::cpu
