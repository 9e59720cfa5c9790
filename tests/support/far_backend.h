#pragma once

#include "backends/engine/engine_backend.h"
#include "support/far_device.h"

namespace assay::testing_support {

// The backend of this name, which may also be `engine-far`, the engine on the far device, or `engine-turns`, on the far
// device and the host by turns.
inline exec::BackendPtr find_any_backend(const std::string& name) {
  const bool takes_turns = name == "engine-turns";
  if (!takes_turns && name != "engine-far") return exec::find_backend(name);
  return backends::make_engine_backend([=](const exec::SessionOptions& options, Diagnostics& findings) {
    const backends::DevicesPtr found = backends::find_devices(options, findings);
    const std::shared_ptr<const engine::Device> host(found, &found->first());
    const auto refuses = takes_turns ? far::Refuses::some : far::Refuses::nothing;
    return std::make_shared<const backends::FoundDevices>(
        std::vector<std::shared_ptr<const engine::Device>>{std::make_shared<FarDevice>(*host, refuses), host});
  });
}

}  // namespace assay::testing_support
