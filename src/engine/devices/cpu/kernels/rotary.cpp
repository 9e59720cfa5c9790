// Rotary positions, written out or as an operator.
#include "engine/devices/cpu/device.h"
#include "engine/devices/cpu/rotary/rotation.h"

namespace assay::engine::cpu {
namespace {

class Rotary final : public Implementation {
 public:
  std::string_view name() const override { return "rotary.rows"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    const std::optional<Rotation> rotation = find_rotation(layer);
    return rotation ? make_rotation(*rotation) : nullptr;
  }
};

}  // namespace

KernelFamily cpu_kernel_rotary() { return family_of<Rotary>(); }

}  // namespace assay::engine::cpu
