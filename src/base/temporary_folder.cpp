#include "base/temporary_folder.h"

#include <cerrno>
#include <cstdlib>

#include <stdlib.h>

#include "base/errno_text.h"
#include "base/error.h"
#include "base/signal_tables.h"
#include "base/text.h"

namespace assay {
namespace fs = std::filesystem;

fs::path make_temporary_folder(std::string_view stem) {
  const char* const wish = std::getenv("TMPDIR");
  const bool is_unset = wish == nullptr || *wish == '\0';  // empty means unset, as for a shell
  std::error_code error;
  const fs::path parent = is_unset ? fs::path("/tmp") : fs::temp_directory_path(error);
  if (error) fail(ErrorCode::io, "there is no folder for temporary files: {}", errno_text(error.value()));
  std::string pattern = (parent / fmt::format("{}_XXXXXX", stem)).string();
  if (mkdtemp(pattern.data()) == nullptr) {
    fail(ErrorCode::io, "cannot make a folder in `{}`: {}", printable(parent.string()), errno_text(errno));
  }
  return pattern;
}

TemporaryFolder::TemporaryFolder() : path_(make_temporary_folder("assay")), slot_(remember_temporary(path_.c_str())) {}

TemporaryFolder::~TemporaryFolder() {
  forget_temporary(slot_);
  std::error_code error;
  fs::remove_all(path_, error);
}

}  // namespace assay
