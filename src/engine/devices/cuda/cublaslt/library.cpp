#include "engine/devices/cuda/cublaslt/library.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "exec/foreign_library.h"

namespace assay::engine::cuda::cublaslt {
namespace {

constexpr size_t kLeastVersion = 120000, kFirstUnknown = 140000;

}  // namespace

const exec::LibraryKind& Library::kind() {
  static const exec::LibraryKind kind = {
      .variable = "ASSAY_CUBLASLT",
      .wheel_files = {"nvidia/cu13/lib/libcublasLt.so.1*", "nvidia/cublas/lib/libcublasLt.so.1*"},
      .distribution = "nvidia_cublas*",
      .system_names = {"libcublasLt.so.13", "libcublasLt.so.12"},
      .loader_name = "libcublasLt.so.13",
      .title = "cuBLASLt",
      .hint = "`pip install nvidia-cublas` brings one"};
  return kind;
}

const Library* Library::find(const exec::LibrarySearch& search, std::string& reason) {
  return exec::find_opened_library<Library>(kind(), search, reason);
}

Library::Library(SharedLibrary library) : library_(std::move(library)) {
#define ASSAY_LOAD(member, name, ...) exec::load_function(kind(), library_, api_.member, #name);
  ASSAY_CUBLASLT_FUNCTIONS(ASSAY_LOAD)
#undef ASSAY_LOAD
  size_t (*tell_version)() = nullptr;
  exec::load_function(kind(), library_, tell_version, "cublasLtGetVersion");
  version_ = tell_version();
  if (version_ >= kLeastVersion && version_ < kFirstUnknown) return;
  fail(ErrorCode::backend, "`{}` is cuBLASLt {}; 12 or 13 is needed", printable(path().string()), version());
}

std::string Library::version() const {
  return fmt::format("{}.{}.{}", version_ / 10000, version_ / 100 % 100, version_ % 100);
}

void Library::check(Status status, std::string_view what) const {
  if (status != 0) fail(ErrorCode::backend, "cuBLASLt refuses {} (status {})", what, status);
}

}  // namespace assay::engine::cuda::cublaslt
