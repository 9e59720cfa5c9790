#include "engine/devices/cuda/nvrtc/library.h"

#include <array>
#include <memory>

#include "base/error.h"
#include "base/text.h"
#include "exec/foreign_library.h"

namespace assay::engine::cuda::nvrtc {
const exec::LibraryKind& Library::kind() {
  static const exec::LibraryKind kind = {
      .variable = "ASSAY_NVRTC",
      .wheel_files = {"nvidia/cu13/lib/libnvrtc.so.1[0-9]", "nvidia/cu13/lib/libnvrtc.so.1*",
                      "nvidia/cuda_nvrtc/lib/libnvrtc.so.1*"},
      .distribution = "nvidia_cuda_nvrtc*",
      .system_names = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.13.*", "libnvrtc.so.12.*"},
      .loader_name = "libnvrtc.so.13",
      .title = "NVRTC",
      .hint = "`pip install nvidia-cuda-nvrtc` brings one"};
  return kind;
}

const Library* Library::find(const exec::LibrarySearch& search, std::string& reason) {
  return exec::find_opened_library<Library>(kind(), search, reason);
}

Library::Library(SharedLibrary library) : library_(std::move(library)) {
  exec::load_function(kind(), library_, api_.version, "nvrtcVersion");
  exec::load_function(kind(), library_, api_.create, "nvrtcCreateProgram");
  exec::load_function(kind(), library_, api_.compile, "nvrtcCompileProgram");
  exec::load_function(kind(), library_, api_.destroy, "nvrtcDestroyProgram");
  exec::load_function(kind(), library_, api_.log_bytes, "nvrtcGetProgramLogSize");
  exec::load_function(kind(), library_, api_.log, "nvrtcGetProgramLog");
  exec::load_function(kind(), library_, api_.cubin_bytes, "nvrtcGetCUBINSize");
  exec::load_function(kind(), library_, api_.cubin, "nvrtcGetCUBIN");
  exec::load_function(kind(), library_, api_.error_text, "nvrtcGetErrorString");
  check(api_.version(&major_, &minor_), "its version");
}

std::string Library::version() const { return fmt::format("{}.{}", major_, minor_); }

void Library::check(Result result, std::string_view what) const {
  if (result != 0) fail(ErrorCode::backend, "NVRTC refuses {} ({})", what, api_.error_text(result));
}

std::string Library::log_of(ProgramOpaque* program) const {
  size_t bytes = 0;
  if (api_.log_bytes(program, &bytes) != 0) return {};
  std::string log(bytes, '\0');
  if (api_.log(program, log.data()) != 0) return {};
  return log.substr(0, log.find('\0'));
}

std::vector<std::byte> Library::compile(const std::string& text, const std::string& architecture) const {
  const ForeignCode code("NVRTC");
  const FloatModeGuard floats;
  ProgramOpaque* made = nullptr;
  check(api_.create(&made, text.c_str(), "assay.cu", 0, nullptr, nullptr), "a text");
  const auto destroy = [this](ProgramOpaque* program) { api_.destroy(&program); };
  const std::unique_ptr<ProgramOpaque, decltype(destroy)> program(made, destroy);
  const std::string target = "-arch=" + architecture;
  const std::array options = {target.c_str(), "-std=c++17", "-default-device", "-fmad=true"};
  if (const Result result = api_.compile(made, static_cast<int>(options.size()), options.data()); result != 0) {
    fail(ErrorCode::backend, "NVRTC refuses a kernel for {} ({}):\n{}", architecture, api_.error_text(result),
         log_of(made));
  }
  size_t bytes = 0;
  check(api_.cubin_bytes(made, &bytes), "the size of a kernel");
  std::vector<std::byte> cubin(bytes);
  check(api_.cubin(made, reinterpret_cast<char*>(cubin.data())), "a kernel");
  return cubin;
}

}  // namespace assay::engine::cuda::nvrtc
