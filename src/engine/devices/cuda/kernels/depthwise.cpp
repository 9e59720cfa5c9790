// Convolutions of channels apart.
#include "engine/devices/cuda/depthwise.h"

#include "engine/devices/cuda/operation.h"

namespace assay::engine::cuda {
namespace {

class Depthwise final : public Operation {
 public:
  using Operation::Operation;
  std::string_view name() const override { return "conv.depthwise"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    return depthwise_kernel(programs(), layer);
  }
};

}  // namespace

KernelFamily cuda_kernel_depthwise() { return family_of<Depthwise>(); }

}  // namespace assay::engine::cuda
