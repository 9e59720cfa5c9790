#include "backends/engine/cards.h"

#include <charconv>
#include <cstdlib>
#include <map>
#include <mutex>

#include "backends/engine/setting_names.h"
#include "base/error.h"
#include "base/shared_library.h"
#include "base/text.h"
#include "engine/devices/cuda/device.h"
#include "engine/devices/cuda/nvrtc/library.h"

namespace assay::backends {
namespace {

using engine::cuda::Card;
using engine::cuda::Compiler;
using engine::cuda::Driver;

// The number that a text is from its beginning to its end.
std::optional<int> whole_number(std::string_view text) {
  int number = 0;
  const char* const end = text.data() + text.size();
  const std::from_chars_result read = std::from_chars(text.data(), end, number);
  const bool is_number = !text.empty() && read.ec == std::errc() && read.ptr == end && number >= 0;
  return is_number ? std::optional(number) : std::nullopt;
}

// A device as users name it.
struct AskedDevice {
  std::optional<int> card;    // nullopt: the processor
  bool is_by_number = false;  // trtexec names cards so, and does without one where there is none
};

AskedDevice read_device(std::string_view name) {
  constexpr std::string_view kCard = "cuda:";
  if (name.empty() || name == "cpu") return {};
  if (name == "cuda") return {.card = 0};
  if (const std::optional<int> number = whole_number(name)) return {.card = number, .is_by_number = true};
  if (name.starts_with(kCard)) {
    if (const std::optional<int> number = whole_number(name.substr(kCard.size()))) return {.card = number};
  }
  fail(ErrorCode::usage, "`{}` is no device: write cpu, cuda or cuda:N", printable(name));
}

AskedDevice asked_device(const exec::Settings& settings) {
  if (settings.has(setting::kDevice)) return read_device(settings.text(setting::kDevice));
  const char* const usual = std::getenv("ASSAY_DEVICE");
  return read_device(usual == nullptr ? "" : usual);
}

constexpr std::string_view kDriverHint = "NVIDIA's driver brings it";

[[noreturn]] void fail_without_driver(int card, const std::string& reason) {
  fail(ErrorCode::unsupported, "there is no device `cuda:{}`: {} ({})", card, reason, kDriverHint);
}

// In the place of NVRTC where there is none: kernels come from plans.
class AbsentCompiler final : public Compiler {
 public:
  explicit AbsentCompiler(std::string reason) : reason_(std::move(reason)) {}
  std::string identity() const override { return ""; }
  std::vector<std::byte> compile(const std::string&, const std::string&) const override {
    fail(ErrorCode::unsupported, "no kernel for the card can be compiled: {}", reason_);
  }

 private:
  std::string reason_;
};

// A card stays open while the process lives: a context takes a quarter of a second, and sessions share kernels.
std::shared_ptr<const engine::Device> open_card(const Driver& driver, int number, const exec::LibrarySearch& search) {
  std::string reason;
  const auto* const library = engine::cuda::nvrtc::Library::find(search, reason);
  static std::mutex mutex;
  static auto& cards = *new std::map<std::pair<int, const Compiler*>, std::shared_ptr<const engine::Device>>();
  static auto& lack = *new AbsentCompiler(reason);
  const Compiler* const compiler = library == nullptr ? &lack : static_cast<const Compiler*>(library);
  const std::scoped_lock lock(mutex);
  std::shared_ptr<const engine::Device>& card = cards[{number, compiler}];
  if (card == nullptr) {
    card = engine::cuda::make_device(std::make_shared<const Card>(driver, number), *compiler,
                                     engine::cuda::CubinCache(engine::cuda::CubinCache::usual_folder()));
  }
  return card;
}

exec::DeviceProbe examine(const Driver& driver, int number) {
  exec::DeviceProbe health{.kind = fmt::format("cuda:{}", number),
                           .driver = fmt::format("CUDA {}.{}", driver.version() / 1000, driver.version() % 1000 / 10)};
  try {
    const auto card = std::make_shared<const Card>(driver, number);
    health.name = card->name();
    health.memory_bytes = card->memory_bytes();
    health.capability = fmt::format("{}.{}", card->capability() / 10, card->capability() % 10);
  } catch (const Error& error) {
    health.problem = error.line();
  }
  return health;
}

}  // namespace

bool asks_for_card(const exec::Settings& settings) { return asked_device(settings).card.has_value(); }

std::shared_ptr<const engine::Device> find_card(const exec::SessionOptions& options, Diagnostics& findings) {
  const AskedDevice asked = asked_device(options.settings);
  if (!asked.card) return nullptr;
  std::string reason;
  const Driver* const driver = Driver::find(reason);
  if (driver != nullptr) return open_card(*driver, *asked.card, options.search);
  if (!asked.is_by_number) fail_without_driver(*asked.card, reason);
  findings.warn("engine_device", "", fmt::format("there is no card {}: the engine runs on the processor", *asked.card));
  return nullptr;
}

std::shared_ptr<const engine::cuda::Card> usual_card() {
  const AskedDevice asked = asked_device({});
  if (!asked.card) return nullptr;
  std::string reason;
  const Driver* const driver = Driver::find(reason);
  if (driver == nullptr) fail_without_driver(*asked.card, reason);
  return std::make_shared<const Card>(*driver, *asked.card);
}

void refuse_card_memory(uint64_t address) {
  const std::optional<SharedLibrary> driver = SharedLibrary::opened("libcuda.so.1");
  if (!driver) return;
  using Ask = engine::cuda::Result (*)(void*, int, engine::cuda::DevicePointer);
  const auto ask = reinterpret_cast<Ask>(driver->find("cuPointerGetAttribute"));
  unsigned kind = 0;
  const bool is_known = ask != nullptr && ask(&kind, engine::cuda::kKindOfMemory, address) == engine::cuda::kSuccess;
  if (!is_known || kind != engine::cuda::kMemoryOfCard) return;
  fail(ErrorCode::unsupported,
       "the memory at {:#x} is that of a card, and the engine computes on the processor: ask for the device cuda",
       address);
}

std::vector<exec::DeviceProbe> examine_cards(const exec::LibrarySearch& search) {
  std::string reason;
  const Driver* const driver = Driver::find(reason);
  if (driver == nullptr) {
    return {{.kind = "cuda", .problem = fmt::format("{} ({})", reason, kDriverHint)}};
  }
  const auto* const compiler = engine::cuda::nvrtc::Library::find(search, reason);
  std::vector<exec::DeviceProbe> all;
  for (int number = 0; number < driver->card_count(); ++number) {
    all.push_back(examine(*driver, number));
    if (compiler != nullptr) all.back().compiler = compiler->identity();
    if (compiler == nullptr && all.back().problem.empty()) all.back().problem = "no kernel can be compiled: " + reason;
  }
  return all;
}

}  // namespace assay::backends
