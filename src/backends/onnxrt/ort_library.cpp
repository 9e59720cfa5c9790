#include "backends/onnxrt/ort_library.h"

#include <charconv>

#include "base/error.h"
#include "base/text.h"
#include "exec/foreign_library.h"

namespace assay::backends::ort {
namespace {

constexpr int kLeastMinorVersion = 17;

// `1.31.1` -> {1, 31}; {0, 0} if it is no version.
std::pair<int, int> parse_version(std::string_view text) {
  std::pair<int, int> version;
  const char* const end = text.data() + text.size();
  const std::from_chars_result major = std::from_chars(text.data(), end, version.first);
  if (major.ec != std::errc() || major.ptr == end || *major.ptr != '.') return {};
  const std::from_chars_result minor = std::from_chars(major.ptr + 1, end, version.second);
  return minor.ec == std::errc() ? version : std::pair<int, int>();
}

}  // namespace

const exec::LibraryKind& Library::kind() {
  static const exec::LibraryKind kind = {
      .variable = "ASSAY_ONNXRUNTIME",
      .wheel_files = {"onnxruntime/capi/libonnxruntime.so*", "capi/libonnxruntime.so*"},
      .distribution = "onnxruntime*",
      .system_names = {"libonnxruntime.so", "libonnxruntime.so.[0-9]*"},
      .loader_name = "libonnxruntime.so.1",
      .title = "ONNX Runtime",
      .hint = "`pip install onnxruntime` (1.19 or newer) brings one"};
  return kind;
}

const Library& Library::get(const exec::LibrarySearch& search) { return exec::opened_library<Library>(kind(), search); }

Library::Library(SharedLibrary library) : library_(std::move(library)) {
  check_version();
  const SignalGuard guard;
  call(kCreateEnv, static_cast<int>(LogSeverity::fatal), "assay", &env_);
  call(kDisableTelemetry, env_);
  call(kCreateCpuMemoryInfo, static_cast<int>(AllocatorKind::device), static_cast<int>(MemoryKind::standard),
       &cpu_memory_);
  call(kGetDefaultAllocator, &allocator_);
}

void Library::check_version() {
  using GetApiBase = const ApiBase*();
  const std::string shown = printable(library_.path().string());
  GetApiBase* const get_base = reinterpret_cast<GetApiBase*>(library_.find("OrtGetApiBase"));
  if (get_base == nullptr) {
    fail(ErrorCode::backend, "`{}` is not ONNX Runtime: it has no `OrtGetApiBase`", shown);
  }
  const ApiBase* const base = get_base();
  const char* const version = base != nullptr ? base->get_version() : nullptr;
  version_ = version != nullptr ? printable(version) : "";
  const auto [major, minor] = parse_version(version_);
  if (major != 1 || minor < kLeastMinorVersion) {
    fail(ErrorCode::backend, "`{}` is ONNX Runtime {}, expected 1.{} or newer", shown, version_, kLeastMinorVersion);
  }
  minor_version_ = minor;
  table_ = base->get_api(kApiVersion);
  if (table_ == nullptr) {
    fail(ErrorCode::backend, "`{}` (ONNX Runtime {}) does not have version {} of its interface", shown, version_,
         kApiVersion);
  }
}

std::vector<std::string> Library::providers() const {
  char** names = nullptr;
  int count = 0;
  call(kGetAvailableProviders, &names, &count);
  std::vector<std::string> result(names, names + count);
  call(kReleaseAvailableProviders, names, count);
  return result;
}

void Library::fail_with(Status* status) const {
  const Owned<Status> owned = own(status);
  const int code = function<int(const Status*)>(kGetErrorCode)(owned.get());
  const std::string message = plain_message(function<const char*(const Status*)>(kGetErrorMessage)(owned.get()));
  const bool is_missing = code == static_cast<int>(ErrorNumber::not_implemented);
  throw Error(is_missing ? ErrorCode::unsupported : ErrorCode::backend, fmt::format("onnxrt: {}", message));
}

}  // namespace assay::backends::ort
