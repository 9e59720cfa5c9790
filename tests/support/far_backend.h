#pragma once

#include "backends/engine/engine_backend.h"
#include "simt/host_card.h"
#include "support/far_device.h"

namespace assay::testing_support {

using FarSetter = std::function<void(FarDevice& far)>;

// The engine on a far device, which `set` changes before it is used, and the host.
inline exec::BackendPtr far_backend(
    far::Refuses refuses, const FarSetter& set = [](FarDevice&) {}) {
  return backends::make_engine_backend([=](const exec::SessionOptions& options, Diagnostics& findings) {
    const backends::DevicesPtr found = backends::find_devices(options, findings);
    const std::shared_ptr<const engine::Device> host(found, &found->first());
    const auto far = std::make_shared<FarDevice>(*host, refuses);
    set(*far);
    return std::make_shared<const backends::FoundDevices>(
        std::vector<std::shared_ptr<const engine::Device>>{far, host});
  });
}

// The backend of this name, which may also be `engine-far`, the engine on the far device, or `engine-turns`, on the far
// device and the host by turns, or `engine-card`, on a card whose kernels the host runs.
inline exec::BackendPtr find_any_backend(const std::string& name) {
  if (name == "engine-card") return host_card_backend();
  if (name == "engine-far") return far_backend(far::Refuses::nothing);
  return name == "engine-turns" ? far_backend(far::Refuses::some) : exec::find_backend(name);
}

}  // namespace assay::testing_support
