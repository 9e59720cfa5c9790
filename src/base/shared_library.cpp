#include "base/shared_library.h"

#include <string>

#include <dlfcn.h>
#include <link.h>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "base/error.h"
#include "base/text.h"

namespace assay {
namespace {

uint64_t float_mode() {
#if defined(__x86_64__)
  return _mm_getcsr();
#elif defined(__aarch64__)
  uint64_t mode;
  asm volatile("mrs %0, fpcr" : "=r"(mode));
  return mode;
#endif
}

void set_float_mode(uint64_t mode) {
#if defined(__x86_64__)
  _mm_setcsr(static_cast<unsigned>(mode));
#elif defined(__aarch64__)
  asm volatile("msr fpcr, %0" : : "r"(mode));
#endif
}

std::filesystem::path path_of(void* handle, const std::filesystem::path& asked) {
  const link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, static_cast<void*>(&map)) != 0 || map == nullptr || map->l_name[0] == '\0')
    return asked;
  return map->l_name;
}

}  // namespace

SharedLibrary SharedLibrary::open(const std::filesystem::path& path) {
  const FloatModeGuard float_mode_guard;
  const SignalGuard signal_guard;
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* const said = dlerror();
    std::string_view reason = said != nullptr ? said : "unknown reason";
    const std::string prefix = path.string() + ": ";
    if (reason.starts_with(prefix)) reason.remove_prefix(prefix.size());
    fail(ErrorCode::backend, "`{}` cannot be opened: {}", printable(path.string()), printable(reason));
  }
  return SharedLibrary(handle, path_of(handle, path));
}

std::optional<SharedLibrary> SharedLibrary::opened(const char* name) {
  void* const handle = ::dlopen(name, RTLD_NOW | RTLD_NOLOAD);
  if (handle == nullptr) return std::nullopt;
  return SharedLibrary(handle, name);
}

void* SharedLibrary::find(const char* symbol) const { return dlsym(handle_, symbol); }

FloatModeGuard::FloatModeGuard() : mode_(float_mode()) {}
FloatModeGuard::~FloatModeGuard() { set_float_mode(mode_); }

SignalGuard::SignalGuard() {
  pthread_sigmask(SIG_SETMASK, nullptr, &mask_);
  for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], nullptr, &actions_[i]);
}

SignalGuard::~SignalGuard() {
  for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &actions_[i], nullptr);
  pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
}

}  // namespace assay
