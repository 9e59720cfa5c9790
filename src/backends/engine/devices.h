#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/diagnostics.h"
#include "engine/device/device.h"
#include "exec/session.h"

namespace assay::backends {

// Devices of a session in the order of preference, the host last.
class FoundDevices {
 public:
  explicit FoundDevices(std::vector<std::shared_ptr<const engine::Device>> devices);

  const engine::Devices& all() const { return all_; }
  const engine::Device& first() const { return all_.first(); }
  std::vector<engine::Fingerprint> fingerprints() const;

 private:
  std::vector<std::shared_ptr<const engine::Device>> owned_;
  engine::Devices all_;
};

using DevicesPtr = std::shared_ptr<const FoundDevices>;
using DeviceFinder = std::function<DevicesPtr(const exec::SessionOptions& options, Diagnostics& findings)>;

// Finds the devices that the options ask for, with their libraries.
DevicesPtr find_devices(const exec::SessionOptions& options, Diagnostics& findings);

}  // namespace assay::backends
