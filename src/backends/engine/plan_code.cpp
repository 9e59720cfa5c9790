#include "backends/engine/plan_code.h"

#include "base/text.h"
#include "engine/plan/code_seal.h"

namespace assay::backends {
namespace {

const engine::Device* find_device(const FoundDevices& devices, std::string_view name) {
  const engine::Devices& all = devices.all();
  for (size_t i = 0; i < all.count(); ++i) {
    if (all[i].name() == name) return &all[i];
  }
  return nullptr;
}

}  // namespace

void add_code(engine::PlanSections& sections, const FoundDevices& devices) {
  const engine::Devices& all = devices.all();
  for (size_t i = 0; i < all.count(); ++i) {
    const std::vector<engine::KernelCode> code = all[i].code();
    if (code.empty()) continue;
    const std::string device(all[i].name());
    const std::optional<engine::CodeSeal> seal = engine::CodeSeal::make();
    for (const engine::KernelCode& kernel : code) {
      sections.add_code(device, kernel, seal ? seal->of(device, kernel) : "");
    }
    sections.wait();
  }
}

void offer_code(const engine::SavedPlan& plan, const FoundDevices& devices, bool is_trusted, Diagnostics& findings) {
  if (plan.manifest().code.empty()) return;
  const std::optional<engine::CodeSeal> seal = engine::CodeSeal::find();
  size_t foreign = 0;
  for (const engine::CompiledCode& told : plan.manifest().code) {
    const engine::Device* const device = find_device(devices, told.device);
    if (device == nullptr) continue;
    const engine::KernelCode code = plan.code(told);
    if (is_trusted || (seal && seal->of(told.device, code) == told.seal)) {
      device->offer(code);
    } else {
      ++foreign;
    }
  }
  if (foreign == 0) return;
  findings.warn(
      "engine_plan_code", "",
      fmt::format("{} of the plan's kernels were not compiled by this user: they are compiled anew, unless the "
                  "plan is trusted",
                  foreign),
      "trust_plan");
}

}  // namespace assay::backends
