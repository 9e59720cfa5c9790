#include "engine/devices/cuda/kernels_in_turn.h"

#include <algorithm>

#include "engine/devices/cuda/device.h"

namespace assay::engine::cuda {
namespace {

constexpr uint64_t kEven = 256;

// A part whose operands have places.
struct PlacedPart {
  std::unique_ptr<Kernel> kernel;
  std::vector<KernelOfPart::Input> inputs;
  uint64_t given = 0, result = 0;  // in the workspace
  bool is_last = false;

  Arguments arguments(const Arguments& whole, uint64_t between_bytes) const {
    Arguments made{.inputs = {}, .outputs = whole.outputs, .workspace = {whole.workspace.value + between_bytes}};
    for (const KernelOfPart::Input& input : inputs) {
      const uint64_t first = input.of_layer == LayerPart::kMadeBefore
                                 ? whole.workspace.value + given
                                 : whole.inputs[static_cast<size_t>(input.of_layer)].value;
      made.inputs.push_back({first + input.offset});
    }
    if (!is_last) made.outputs = {{whole.workspace.value + result}};
    return made;
  }
};

struct PlacedParts {
  std::vector<PlacedPart> all;
  uint64_t between_bytes = 0;
};

class CallsInTurn final : public Call {
 public:
  CallsInTurn(std::shared_ptr<const PlacedParts> parts, const Arguments& arguments) : parts_(std::move(parts)) {
    for (const PlacedPart& part : parts_->all) {
      calls_.push_back(part.kernel->bind(part.arguments(arguments, parts_->between_bytes)));
    }
  }
  void run(Queue& queue) override {
    for (const std::unique_ptr<Call>& call : calls_) call->run(queue);
  }
  void rebind(const Arguments& arguments) override {
    for (size_t i = 0; i < calls_.size(); ++i) {
      calls_[i]->rebind(parts_->all[i].arguments(arguments, parts_->between_bytes));
    }
  }

 private:
  std::shared_ptr<const PlacedParts> parts_;
  std::vector<std::unique_ptr<Call>> calls_;
};

class KernelsInTurn final : public Kernel {
 public:
  explicit KernelsInTurn(std::vector<KernelOfPart> parts) {
    auto placed = std::make_shared<PlacedParts>();
    uint64_t before = 0;
    for (KernelOfPart& part : parts) {
      workspace_bytes_ = std::max(workspace_bytes_, part.kernel->workspace_bytes());
      const uint64_t result = placed->between_bytes;
      placed->all.push_back({std::move(part.kernel), std::move(part.inputs), before, result});
      placed->between_bytes += (part.result_bytes + kEven - 1) / kEven * kEven;
      before = result;
    }
    placed->all.back().is_last = true;
    workspace_bytes_ += placed->between_bytes;
    parts_ = std::move(placed);
  }
  uint64_t workspace_bytes() const override { return workspace_bytes_; }
  std::unique_ptr<Call> bind(const Arguments& arguments) const override {
    return std::make_unique<CallsInTurn>(parts_, arguments);
  }

 private:
  std::shared_ptr<const PlacedParts> parts_;
  uint64_t workspace_bytes_ = 0;
};

}  // namespace

std::vector<KernelOfPart::Input> inputs_of(const LayerPart& part) {
  std::vector<KernelOfPart::Input> inputs;
  for (const int input : part.inputs) inputs.push_back({.of_layer = input});
  return inputs;
}

std::unique_ptr<Kernel> in_turn(std::vector<KernelOfPart> parts) {
  const bool is_whole = std::ranges::all_of(parts, [](const KernelOfPart& part) { return part.kernel != nullptr; });
  return is_whole ? std::make_unique<KernelsInTurn>(std::move(parts)) : nullptr;
}

std::unique_ptr<Kernel> first_kernel(Programs& programs, const Layer& layer) {
  for (const Registered<KernelFamily>& family : registered_kernels()) {
    for (const std::unique_ptr<Implementation>& implementation : family.make().make(programs)) {
      if (std::unique_ptr<Kernel> kernel = implementation->make(layer, "")) return kernel;
    }
  }
  return nullptr;
}

}  // namespace assay::engine::cuda
