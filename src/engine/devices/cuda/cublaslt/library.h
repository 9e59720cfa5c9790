#pragma once

#include <string>

#include "base/shared_library.h"
#include "engine/devices/cuda/driver/api.h"
#include "exec/library_search.h"

namespace assay::engine::cuda::cublaslt {

using Status = int;
struct HandleOpaque;
struct DescOpaque;
struct LayoutOpaque;
struct PreferenceOpaque;
using Handle = HandleOpaque*;
using Desc = DescOpaque*;
using Layout = LayoutOpaque*;
using Preference = PreferenceOpaque*;

struct Algorithm {
  uint64_t words[8];
};
struct Heuristic {
  Algorithm algorithm;
  size_t workspace_bytes;
  Status state;
  float waves;
  int reserved[4];
};
static_assert(sizeof(Heuristic) == 96);

// X(member, name in the library, types of the arguments)
#define ASSAY_CUBLASLT_FUNCTIONS(X)                                                                                 \
  X(create, cublasLtCreate, Handle*)                                                                                \
  X(destroy, cublasLtDestroy, Handle)                                                                               \
  X(desc_create, cublasLtMatmulDescCreate, Desc*, int, int)                                                         \
  X(desc_destroy, cublasLtMatmulDescDestroy, Desc)                                                                  \
  X(desc_set, cublasLtMatmulDescSetAttribute, Desc, int, const void*, size_t)                                       \
  X(layout_create, cublasLtMatrixLayoutCreate, Layout*, int, uint64_t, uint64_t, int64_t)                           \
  X(layout_destroy, cublasLtMatrixLayoutDestroy, Layout)                                                            \
  X(layout_set, cublasLtMatrixLayoutSetAttribute, Layout, int, const void*, size_t)                                 \
  X(preference_create, cublasLtMatmulPreferenceCreate, Preference*)                                                 \
  X(preference_destroy, cublasLtMatmulPreferenceDestroy, Preference)                                                \
  X(preference_set, cublasLtMatmulPreferenceSetAttribute, Preference, int, const void*, size_t)                     \
  X(heuristics, cublasLtMatmulAlgoGetHeuristic, Handle, Desc, Layout, Layout, Layout, Layout, Preference, int,      \
    Heuristic*, int*)                                                                                               \
  X(multiply, cublasLtMatmul, Handle, Desc, const void*, DevicePointer, Layout, DevicePointer, Layout, const void*, \
    DevicePointer, Layout, DevicePointer, Layout, const Algorithm*, DevicePointer, size_t, Stream)

struct Api {
#define ASSAY_MEMBER(member, name, ...) Status (*member)(__VA_ARGS__) = nullptr;
  ASSAY_CUBLASLT_FUNCTIONS(ASSAY_MEMBER)
#undef ASSAY_MEMBER
};

// cuBLASLt, NVIDIA's library of products of matrices.
class Library {
 public:
  static const exec::LibraryKind& kind();
  // The library of the user's environment or system; null with a reason.
  static const Library* find(const exec::LibrarySearch& search, std::string& reason);
  // Error (backend): it has another interface than the one that is known.
  explicit Library(SharedLibrary library);

  std::string version() const;
  const std::filesystem::path& path() const { return library_.path(); }
  const Api& api() const { return api_; }
  void check(Status status, std::string_view what) const;

 private:
  SharedLibrary library_;
  Api api_;
  size_t version_ = 0;
};

}  // namespace assay::engine::cuda::cublaslt
