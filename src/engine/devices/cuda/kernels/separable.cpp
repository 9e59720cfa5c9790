// Depthwise convolutions with the one of single pixels that alone reads them: by one kernel, or one after the other.
#include "engine/devices/cuda/depthwise.h"
#include "engine/devices/cuda/kernels_in_turn.h"
#include "engine/devices/cuda/operation.h"
#include "engine/devices/cuda/tiles/float_products.h"
#include "engine/devices/cuda/tiles/separable_product.h"
#include "engine/layers/form.h"

namespace assay::engine::cuda {
namespace {

constexpr std::string_view kApart = "apart";

// `16x64/4`: rows and columns of a block, and blocks of a cluster.
std::string name_of(const SeparableShape& shape) {
  return fmt::format("{}x{}/{}", shape.rows, shape.columns, shape.blocks);
}

class SeparableConvolution final : public Operation {
 public:
  using Operation::Operation;
  std::string_view name() const override { return "conv.separable"; }

  std::vector<std::string> variants(const Layer& layer) const override {
    const auto* const form = form_as<SeparableForm>(layer);
    if (form == nullptr) return {};
    constexpr size_t kMost = 5;
    std::vector<std::string> names;
    const SeparableShapes shapes = shapes_of(separated(layer, *form));
    for (const SeparableShape& shape : shapes.all) {
      if (names.size() < kMost) names.push_back(name_of(shape));
    }
    names.insert(shapes.is_quicker ? names.end() : names.begin(), std::string(kApart));
    return names;
  }

  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view variant) const override {
    const auto* const form = form_as<SeparableForm>(layer);
    if (form == nullptr) return {};
    const Separated parts = separated(layer, *form);
    const SeparableShapes shapes = shapes_of(parts);
    if (variant == kApart || (variant.empty() && !shapes.is_quicker)) return both(parts);
    for (const SeparableShape& shape : shapes.all) {
      if (variant.empty() || name_of(shape) == variant) return separable_kernel(programs(), parts, shape);
    }
    return {};
  }

 private:
  SeparableShapes shapes_of(const Separated& parts) const {
    const std::optional<SeparableProduct> product = separable_product(parts);
    return product ? separable_shapes(*product, programs().card()) : SeparableShapes();
  }
  std::unique_ptr<Kernel> both(const Separated& parts) const {
    std::vector<KernelOfPart> made;
    made.push_back({depthwise_kernel(programs(), parts.depthwise.layer), inputs_of(parts.depthwise),
                    parts.depthwise.layer.outputs[0].size_bytes()});
    made.push_back({Windows(programs()).make(parts.pointwise.layer, ""), inputs_of(parts.pointwise)});
    return in_turn(std::move(made));
  }
};

}  // namespace

KernelFamily cuda_kernel_separable() { return family_of<SeparableConvolution>(); }

}  // namespace assay::engine::cuda
