#include "backends/engine/devices.h"

#include "backends/engine/cards.h"
#include "engine/devices/cpu/device.h"
#include "engine/devices/cpu/onednn/library.h"

namespace assay::backends {
namespace {

engine::Devices in_order(const std::vector<std::shared_ptr<const engine::Device>>& owned) {
  std::vector<const engine::Device*> all;
  for (const std::shared_ptr<const engine::Device>& device : owned) all.push_back(device.get());
  return engine::Devices(std::move(all));
}

std::unique_ptr<const engine::Device> find_processor(const exec::LibrarySearch& search, Diagnostics& findings) {
  std::string reason;
  const engine::cpu::Libraries libraries{engine::cpu::onednn::Library::find(search, reason)};
  if (libraries.onednn == nullptr) {
    findings.warn(
        "engine_library", "",
        "engine: products that only oneDNN has a kernel for run on the slower operators of the reference: " + reason);
  }
  return engine::cpu::make_device(libraries);
}

}  // namespace

FoundDevices::FoundDevices(std::vector<std::shared_ptr<const engine::Device>> devices)
    : owned_(std::move(devices)), all_(in_order(owned_)) {}

std::vector<engine::Fingerprint> FoundDevices::fingerprints() const {
  std::vector<engine::Fingerprint> all;
  for (const std::shared_ptr<const engine::Device>& device : owned_) all.push_back(device->fingerprint());
  return all;
}

DevicesPtr find_devices(const exec::SessionOptions& options, Diagnostics& findings) {
  std::vector<std::shared_ptr<const engine::Device>> devices;
  if (std::shared_ptr<const engine::Device> card = find_card(options, findings)) devices.push_back(std::move(card));
  devices.push_back(find_processor(options.search, findings));
  return std::make_shared<const FoundDevices>(std::move(devices));
}

}  // namespace assay::backends
