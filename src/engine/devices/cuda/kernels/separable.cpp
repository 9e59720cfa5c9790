// Depthwise convolutions with the one of single pixels that alone reads them: by one kernel, or one after the other.
#include "engine/devices/cuda/depthwise.h"
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

// Operands of the convolutions that are computed one after the other, with the value between them in the workspace.
struct Wiring {
  std::vector<int> of_first, of_second;  // inputs of the layer; -1: the value between
  uint64_t between_bytes = 0;

  Arguments first(const Arguments& whole) const {
    Arguments made = with(whole, of_first);
    made.outputs = {whole.workspace};
    return made;
  }
  Arguments second(const Arguments& whole) const { return with(whole, of_second); }

 private:
  Arguments with(const Arguments& whole, const std::vector<int>& inputs) const {
    Arguments made{.inputs = {}, .outputs = whole.outputs, .workspace = {whole.workspace.value + between_bytes}};
    for (const int input : inputs) {
      made.inputs.push_back(input < 0 ? whole.workspace : whole.inputs[static_cast<size_t>(input)]);
    }
    return made;
  }
};

class TwoCalls final : public Call {
 public:
  TwoCalls(Wiring wiring, const Kernel& first, const Kernel& second, const Arguments& arguments)
      : wiring_(std::move(wiring)),
        first_(first.bind(wiring_.first(arguments))),
        second_(second.bind(wiring_.second(arguments))) {}
  void run(Queue& queue) override {
    first_->run(queue);
    second_->run(queue);
  }
  void rebind(const Arguments& arguments) override {
    first_->rebind(wiring_.first(arguments));
    second_->rebind(wiring_.second(arguments));
  }

 private:
  Wiring wiring_;
  std::unique_ptr<Call> first_, second_;
};

class TwoKernels final : public Kernel {
 public:
  TwoKernels(Wiring wiring, std::unique_ptr<Kernel> first, std::unique_ptr<Kernel> second)
      : wiring_(std::move(wiring)), first_(std::move(first)), second_(std::move(second)) {}
  uint64_t workspace_bytes() const override {
    return wiring_.between_bytes + std::max(first_->workspace_bytes(), second_->workspace_bytes());
  }
  std::unique_ptr<Call> bind(const Arguments& arguments) const override {
    return std::make_unique<TwoCalls>(wiring_, *first_, *second_, arguments);
  }

 private:
  Wiring wiring_;
  std::unique_ptr<Kernel> first_, second_;
};

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
    std::unique_ptr<Kernel> first = depthwise_kernel(programs(), parts.depthwise.layer);
    std::unique_ptr<Kernel> second = Windows(programs()).make(parts.pointwise.layer, "");
    if (!first || !second) return {};
    constexpr uint64_t kEven = 256;
    const uint64_t bytes = parts.depthwise.layer.outputs[0].size_bytes();
    Wiring wiring{parts.depthwise.inputs, parts.pointwise.inputs, (bytes + kEven - 1) / kEven * kEven};
    return std::make_unique<TwoKernels>(std::move(wiring), std::move(first), std::move(second));
  }
};

}  // namespace

KernelFamily cuda_kernel_separable() { return family_of<SeparableConvolution>(); }

}  // namespace assay::engine::cuda
