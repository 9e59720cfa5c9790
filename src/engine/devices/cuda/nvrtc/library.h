#pragma once

#include "base/shared_library.h"
#include "engine/devices/cuda/nvrtc/compiler.h"
#include "exec/library_search.h"

namespace assay::engine::cuda::nvrtc {

struct ProgramOpaque;

// NVRTC, NVIDIA's compiler as a library.
class Library final : public Compiler {
 public:
  static const exec::LibraryKind& kind();
  // The library of the user's environment or system; null with a reason.
  static const Library* find(const exec::LibrarySearch& search, std::string& reason);
  explicit Library(SharedLibrary library);

  std::string version() const;
  const std::filesystem::path& path() const { return library_.path(); }
  std::string identity() const override { return "NVRTC " + version(); }
  std::vector<std::byte> compile(const std::string& text, const std::string& architecture) const override;

 private:
  using Result = int;
  struct Api {
    Result (*version)(int*, int*);
    Result (*create)(ProgramOpaque**, const char*, const char*, int, const char* const*, const char* const*);
    Result (*compile)(ProgramOpaque*, int, const char* const*);
    Result (*destroy)(ProgramOpaque**);
    Result (*log_bytes)(ProgramOpaque*, size_t*);
    Result (*log)(ProgramOpaque*, char*);
    Result (*cubin_bytes)(ProgramOpaque*, size_t*);
    Result (*cubin)(ProgramOpaque*, char*);
    const char* (*error_text)(Result);
  };

  void check(Result result, std::string_view what) const;
  std::string log_of(ProgramOpaque* program) const;

  SharedLibrary library_;
  Api api_{};
  int major_ = 0;
  int minor_ = 0;
};

}  // namespace assay::engine::cuda::nvrtc
