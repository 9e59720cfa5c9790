#pragma once

#include <algorithm>
#include <atomic>
#include <map>

#include "backends/engine/engine_backend.h"
#include "engine/devices/cuda/device.h"
#include "simt/host_compiler.h"
#include "simt/host_driver.h"

namespace assay::testing_support {

// A card whose kernels the host runs. Compiled kernels are kept in the folder of $ASSAY_CUBIN_CACHE, if it is set.
class HostCard {
 public:
  explicit HostCard(int number = 0) : driver_(host_driver::make_api()) {
    const char* const folder = std::getenv("ASSAY_CUBIN_CACHE");
    device_ = engine::cuda::make_device(std::make_shared<const engine::cuda::Card>(driver_, number), compiler_,
                                        engine::cuda::CubinCache(folder == nullptr ? "" : folder));
  }
  const engine::Device& device() const { return *device_; }
  const HostCompiler& compiler() const { return compiler_; }

 private:
  engine::cuda::Driver driver_;
  HostCompiler compiler_;
  std::unique_ptr<engine::Device> device_;
};

// The engine on one of such cards and the processor: each session has the next card.
inline exec::BackendPtr host_cards_backend(int count) {
  ::setenv("ASSAY_HOST_CARDS", std::to_string(std::max(count, 2)).c_str(), 1);
  const auto next = std::make_shared<std::atomic<int>>(0);
  return backends::make_engine_backend([=](const exec::SessionOptions& options, Diagnostics& findings) {
    static auto& cards = *new std::map<int, HostCard>();
    const int number = (*next)++ % count;
    HostCard& card = cards.try_emplace(number, number).first->second;
    const backends::DevicesPtr found = backends::find_devices(options, findings);
    const std::shared_ptr<const engine::Device> host(found, &found->first());
    const std::shared_ptr<const engine::Device> cuda(found, &card.device());
    return std::make_shared<const backends::FoundDevices>(
        std::vector<std::shared_ptr<const engine::Device>>{cuda, host});
  });
}

inline exec::BackendPtr host_card_backend() { return host_cards_backend(1); }

}  // namespace assay::testing_support
