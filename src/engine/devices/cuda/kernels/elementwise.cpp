// Layers of elementwise operators only.
#include "engine/devices/cuda/generate/element_kernel.h"
#include "engine/devices/cuda/operation.h"

namespace assay::engine::cuda {
namespace {

class Elementwise final : public Operation {
 public:
  using Operation::Operation;
  std::string_view name() const override { return "elementwise.chain"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    const std::optional<ElementText> text = find_element_chain(layer);
    if (!text) return {};
    if (layer.outputs[0].count() == 0) return make_kernel({});
    std::vector<ElementOperand> operands;
    for (const int input : text->inputs) {
      const auto index = static_cast<size_t>(input);
      operands.push_back({input_pointer(index), layer.inputs[index]});
    }
    std::optional<Launch> launch = element_launch(programs(), *text, operands, {output_pointer(0), layer.outputs[0]});
    return launch ? single(std::move(*launch)) : nullptr;
  }
};

}  // namespace

KernelFamily cuda_kernel_elementwise() { return family_of<Elementwise>(); }

}  // namespace assay::engine::cuda
