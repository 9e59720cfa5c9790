// DynamicQuantizeLinear: codes of a tensor, with the scale and zero point that its range asks for.
#include <algorithm>

#include "engine/devices/cpu/device.h"
#include "engine/devices/cpu/rows/dynamic_codes.h"
#include "ops/traits.h"

namespace assay::engine::cpu {
namespace {

class DynamicQuantizerKernel final : public PlainKernel {
 public:
  explicit DynamicQuantizerKernel(uint64_t count) : count_(count) {}

  void run(const Arguments& arguments) const override {
    const DynamicScale made =
        make_dynamic_codes(host<const float>(arguments.inputs[0]), count_, host<uint8_t>(arguments.outputs[0]));
    *host<float>(arguments.outputs[1]) = made.scale;
    *host<uint8_t>(arguments.outputs[2]) = made.zero;
  }

 private:
  uint64_t count_;
};

class DynamicQuantizer final : public Implementation {
 public:
  std::string_view name() const override { return "quantize.dynamic"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    const ops::Traits& traits = ops::traits(*layer.model, layer.nodes[0]);
    const bool is_quantizer = traits.is(ops::Nature::quantization) && traits.coding == ops::Coding::encodes_by_range;
    if (!is_quantizer || !layer.is_single() || layer.outputs.size() != 3) return {};
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
