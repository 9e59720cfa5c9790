#include "backends/tensorrt/packages.h"

#include <cstdlib>

namespace assay::backends {
namespace {

exec::LibraryKind kind_of(std::string_view package, std::string_view bindings, std::string_view distribution,
                          std::string_view title) {
  return {.variable = "ASSAY_TENSORRT",
          .wheel_files = {package, bindings, "__init__.py"},
          .distribution = distribution,
          .system_names = {},
          .loader_name = {},
          .title = title,
          .hint = kTensorRtHint};
}

const exec::LibraryKind& plain_kind() {
  static const exec::LibraryKind kind =
      kind_of("tensorrt/__init__.py", "tensorrt_bindings/__init__.py", "tensorrt*", "TensorRT");
  return kind;
}

const exec::LibraryKind& rtx_kind() {
  static const exec::LibraryKind kind =
      kind_of("tensorrt_rtx/__init__.py", "tensorrt_rtx_bindings/__init__.py", "tensorrt_rtx*", "TensorRT-RTX");
  return kind;
}

bool wants_rtx() {
  for (const char* const name : {"ASSAY_USE_TENSORRT_RTX", "POLYGRAPHY_USE_TENSORRT_RTX"}) {
    const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nothing sets variables
    if (value != nullptr) return *value != '\0' && std::string_view(value) != "0";
  }
  return false;
}

}  // namespace

exec::FoundLibrary find_tensorrt(const exec::LibrarySearch& search) {
  if (wants_rtx()) return exec::find_library(rtx_kind(), search);
  exec::FoundLibrary found = exec::find_library(plain_kind(), search);
  if (!found.path.empty()) return found;
  exec::FoundLibrary rtx = exec::find_library(rtx_kind(), search);
  return rtx.path.empty() ? found : rtx;
}

}  // namespace assay::backends
