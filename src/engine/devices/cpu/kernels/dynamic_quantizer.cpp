// DynamicQuantizeLinear: codes of a tensor, with the scale and zero point that its range asks for.
#include "engine/devices/cpu/device.h"
#include "engine/devices/cpu/rows/dynamic_codes.h"
#include "engine/layers/quantization.h"

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
    if (!quantizes_by_range(layer)) return {};
    return std::make_unique<DynamicQuantizerKernel>(static_cast<uint64_t>(layer.inputs[0].count()));
  }
};

}  // namespace

KernelFamily cpu_kernel_dynamic_quantizer() { return family_of<DynamicQuantizer>(); }

}  // namespace assay::engine::cpu
