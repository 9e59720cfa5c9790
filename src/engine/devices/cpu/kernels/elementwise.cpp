// Layers of elementwise operators only.
#include "base/parallel.h"
#include "engine/devices/cpu/copies/cast_copy.h"
#include "engine/devices/cpu/device.h"
#include "engine/devices/cpu/rows/floats.h"
#include "engine/devices/cpu/tape/tape.h"
#include "engine/layers/form.h"
#include "ops/traits.h"

namespace assay::engine::cpu {
namespace {

constexpr int64_t kElementwiseGrain = 1 << 14;  // elements

class TapeKernel final : public PlainKernel {
 public:
  TapeKernel(Tape tape, const TensorDesc& out)
      : tape_(std::move(tape)), count_(out.count()), bytes_(static_cast<uint64_t>(float_bytes(out.dtype))) {}
  void run(const Arguments& arguments) const override {
    auto* const out = host<std::byte>(arguments.outputs[0]);
    parallel_for(static_cast<uint64_t>(count_), kElementwiseGrain, [&](uint64_t begin, uint64_t end) {
      tape_.run(nullptr, out + begin * bytes_, arguments.inputs, static_cast<int64_t>(begin),
                static_cast<int64_t>(end));
    });
  }

 private:
  Tape tape_;
  int64_t count_;
  uint64_t bytes_;  // of an element
};

class Elementwise final : public Implementation {
 public:
  std::string_view name() const override { return "elementwise.tape"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    const auto* const chain = form_as<Chain>(layer);
    std::optional<Tape> tape = chain == nullptr ? std::nullopt : Tape::make(layer, *chain);
    if (!tape) return {};
    return std::make_unique<TapeKernel>(std::move(*tape), layer.outputs[0]);
  }
};

// A Cast or QuantizeLinear whose result lies in another order.
class MovingCast final : public Implementation {
 public:
  std::string_view name() const override { return "elementwise.cast"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    const ops::Traits& traits = ops::traits(*layer.model, layer.nodes[0]);
    if (!layer.is_single() || !(traits.is_cast() || traits.encodes())) return {};
    const TensorDesc& in = layer.inputs[0];
    const TensorDesc& out = layer.outputs[0];
    std::optional<Quantizer> quantizer;
    if (is_quantizer(*layer.model, *layer.inference, layer.nodes[0])) {
      quantizer = find_quantizer(*layer.model, *layer.inference, layer.nodes[0], layer.constants_by_value());
    }
    const bool is_known = quantizer || is_float(out.dtype) || out.dtype == tensor::DType::float16;
    if (!is_known || !is_readable(in.dtype) || in.dtype == out.dtype) return {};
    return memory_order(in) == memory_order(out) ? nullptr : make_cast_copy(in, out, quantizer);
  }
};

}  // namespace

KernelFamily cpu_kernel_elementwise() { return family_of<MovingCast, Elementwise>(); }

}  // namespace assay::engine::cpu
