// Concat, and blocks between depth and space.
#include "engine/devices/cuda/copy.h"
#include "engine/devices/cuda/operation.h"

namespace assay::engine::cuda {
namespace {

class Concat final : public Operation {
 public:
  using Operation::Operation;
  std::string_view name() const override { return "movement.concat"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    if (!layer.is_single() || !layer.starts_with("Concat")) return {};
    const std::vector<CopyPart> parts = concat_copies(layer);
    return parts.empty() ? nullptr : make_copies(programs(), parts);
  }
};

class Blocks final : public Operation {
 public:
  using Operation::Operation;
  std::string_view name() const override { return "movement.blocks"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    const bool is_to_space = layer.starts_with("DepthToSpace");
    if (!layer.is_single() || (!is_to_space && !layer.starts_with("SpaceToDepth"))) return {};
    const std::vector<CopyPart> parts = block_copies(layer, is_to_space);
    return parts.empty() ? nullptr : make_copies(programs(), parts);
  }
};

}  // namespace

KernelFamily cuda_kernel_movement() { return family_of<Concat, Blocks>(); }

}  // namespace assay::engine::cuda
