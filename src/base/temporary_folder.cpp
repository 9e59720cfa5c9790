#include "base/temporary_folder.h"

#include <atomic>
#include <cerrno>
#include <cstdlib>

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/errno_text.h"
#include "base/error.h"
#include "base/signal_tables.h"
#include "base/text.h"

namespace assay {
namespace fs = std::filesystem;

namespace {

fs::path parent_of_temporaries() {
  const char* const wish = std::getenv("TMPDIR");
  const bool is_unset = wish == nullptr || *wish == '\0';  // empty means unset, as for a shell
  std::error_code error;
  fs::path parent = is_unset ? fs::path("/tmp") : fs::temp_directory_path(error);
  if (error) fail(ErrorCode::io, "there is no folder for temporary files: {}", errno_text(error.value()));
  return parent;
}

[[noreturn]] void fail_to_make(const fs::path& parent) {
  fail(ErrorCode::io, "cannot make a folder in `{}`: {}", printable(parent.string()), errno_text(errno));
}

}  // namespace

fs::path make_temporary_folder(std::string_view stem) {
  const fs::path parent = parent_of_temporaries();
  std::string pattern = (parent / fmt::format("{}_XXXXXX", stem)).string();
  if (mkdtemp(pattern.data()) == nullptr) fail_to_make(parent);
  return pattern;
}

TemporaryFolder::TemporaryFolder() {
  static std::atomic<uint64_t> counter{0};
  const fs::path parent = parent_of_temporaries();
  std::optional<int> slot;
  do {
    path_ = parent / fmt::format("assay_{}_{}", getpid(), counter.fetch_add(1));
    slot = make_remembered_folder(path_.c_str(), S_IRWXU);
  } while (!slot && errno == EEXIST);
  if (!slot) fail_to_make(parent);
  slot_ = *slot;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code error;
  fs::remove_all(path_, error);
  forget_temporary(slot_);
}

}  // namespace assay
