#include "engine/devices/cuda/driver/driver.h"

#include "base/error.h"
#include "base/foreign_code.h"
#include "base/shared_library.h"
#include "base/text.h"

namespace assay::engine::cuda {
namespace {

constexpr const char* kLibrary = "libcuda.so.1";
constexpr int kLeastVersion = 12000;

template <typename Function>
void load(const SharedLibrary& library, Function*& function, const char* name) {
  function = reinterpret_cast<Function*>(library.find(name));
  if (function == nullptr) {
    fail(ErrorCode::backend, "the CUDA driver is too old: it has no `{}`; CUDA 12 or later is needed", name);
  }
}

Api load_api(const SharedLibrary& library) {
  Api api;
#define ASSAY_LOAD(member, name, ...) load(library, api.member, #name);
  ASSAY_CUDA_FUNCTIONS(ASSAY_LOAD)
#undef ASSAY_LOAD
  return api;
}

struct Opened {
  std::unique_ptr<const Driver> driver;
  std::string reason;
};

Opened open() {
  Opened opened;
  try {
    const SignalGuard guard;
    const ForeignCode code("the CUDA driver");
    opened.driver = std::make_unique<const Driver>(load_api(SharedLibrary::open(kLibrary)));
  } catch (const Error& error) {
    opened.reason = error.line();
  }
  return opened;
}

}  // namespace

const Driver* Driver::find(std::string& reason) {
  static const Opened opened = open();
  reason = opened.reason;
  return opened.driver.get();
}

Driver::Driver(const Api& api) : api_(api) {
  check(api_.init(0), "its initialisation");
  check(api_.driver_version(&version_), "its version");
  if (version_ < kLeastVersion) {
    fail(ErrorCode::backend, "the driver is of CUDA {}.{}; 12 or later is needed", version_ / 1000,
         version_ % 1000 / 10);
  }
  check(api_.device_count(&cards_), "the number of cards");
  if (cards_ == 0) fail(ErrorCode::backend, "the driver finds no card");
}

std::string text_of(const Api& api, Result result) {
  const char* name = nullptr;
  const char* text = nullptr;
  if (api.error_name(result, &name) != kSuccess || name == nullptr) return fmt::format("error {}", result);
  if (api.error_text(result, &text) != kSuccess || text == nullptr) return name;
  return fmt::format("{}: {}", name, text);
}

void Driver::check(Result result, std::string_view what) const {
  if (result == kSuccess) return;
  const ErrorCode code = result == kOutOfMemory ? ErrorCode::limit : ErrorCode::backend;
  fail(code, "CUDA refuses {} ({})", what, text_of(api_, result));
}

}  // namespace assay::engine::cuda
