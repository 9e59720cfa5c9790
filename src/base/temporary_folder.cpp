#include "base/temporary_folder.h"

#include <cerrno>

#include <stdlib.h>

#include "base/errno_text.h"
#include "base/error.h"
#include "base/text.h"

namespace assay {
namespace fs = std::filesystem;

TemporaryFolder::TemporaryFolder() {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  if (error) fail(ErrorCode::io, "there is no folder for temporary files: {}", errno_text(error.value()));
  std::string pattern = (parent / "assay_XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) {
    fail(ErrorCode::io, "cannot make a folder in `{}`: {}", printable(parent.string()), errno_text(errno));
  }
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code error;
  fs::remove_all(path_, error);
}

}  // namespace assay
