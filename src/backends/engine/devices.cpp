#include "backends/engine/devices.h"

#include <charconv>
#include <cstdlib>
#include <map>
#include <mutex>

#include "backends/engine/setting_names.h"
#include "base/error.h"
#include "base/text.h"
#include "engine/devices/cpu/device.h"
#include "engine/devices/cpu/onednn/library.h"
#include "engine/devices/cuda/device.h"
#include "engine/devices/cuda/nvrtc/library.h"

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
    findings.warn("engine_library", "",
                  "engine: some products run on the slower operators of the reference: " + reason);
  }
  return engine::cpu::make_device(libraries);
}

// The number of a card that a device's name says; nullopt: it names the processor.
std::optional<int> card_number(std::string_view name) {
  if (name.empty() || name == "cpu") return std::nullopt;
  if (name == "cuda") return 0;
  constexpr std::string_view kCard = "cuda:";
  int number = 0;
  const char* const end = name.data() + name.size();
  if (name.starts_with(kCard) && std::from_chars(name.data() + kCard.size(), end, number).ptr == end &&
      name.size() > kCard.size() && number >= 0) {
    return number;
  }
  fail(ErrorCode::usage, "`{}` is no device: write cpu, cuda or cuda:N", printable(name));
}

// Cards stay as they are while somebody uses them: programs share kernels and the context.
std::shared_ptr<const engine::Device> find_card(int number, const exec::LibrarySearch& search) {
  std::string reason;
  const engine::cuda::Driver* const driver = engine::cuda::Driver::find(reason);
  if (driver == nullptr) fail(ErrorCode::unsupported, "there is no device `cuda:{}`: {}", number, reason);
  const auto* const compiler = engine::cuda::nvrtc::Library::find(search, reason);
  if (compiler == nullptr) fail(ErrorCode::unsupported, "no kernel for `cuda:{}` can be compiled: {}", number, reason);
  static std::mutex mutex;
  static auto& cards = *new std::map<std::pair<int, const void*>, std::weak_ptr<const engine::Device>>();
  const std::scoped_lock lock(mutex);
  std::weak_ptr<const engine::Device>& known = cards[{number, compiler}];
  if (std::shared_ptr<const engine::Device> kept = known.lock()) return kept;
  const std::shared_ptr<const engine::Device> made =
      engine::cuda::make_device(std::make_shared<const engine::cuda::Card>(*driver, number), *compiler,
                                engine::cuda::CubinCache(engine::cuda::CubinCache::usual_folder()));
  known = made;
  return made;
}

std::string asked_device(const exec::Settings& settings) {
  if (settings.has(setting::kDevice)) return settings.text(setting::kDevice);
  const char* const usual = std::getenv("ASSAY_DEVICE");
  return usual == nullptr ? "" : usual;
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
  if (const std::optional<int> card = card_number(asked_device(options.settings))) {
    devices.push_back(find_card(*card, options.search));
  }
  devices.push_back(find_processor(options.search, findings));
  return std::make_shared<const FoundDevices>(std::move(devices));
}

}  // namespace assay::backends
