#include "debug/file_claim.h"

#include <cerrno>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/errno_text.h"
#include "base/error.h"
#include "base/signal_tables.h"
#include "base/text.h"

namespace assay::debug {
namespace fs = std::filesystem;

namespace {

// True if the path still names the open file: another process that had the lock before may have removed it.
bool is_same_file(const fs::path& path, int descriptor) {
  struct stat named = {};
  struct stat opened = {};
  return stat(path.c_str(), &named) == 0 && fstat(descriptor, &opened) == 0 && named.st_ino == opened.st_ino &&
         named.st_dev == opened.st_dev;
}

}  // namespace

FileClaim::FileClaim(const fs::path& file)
    : lock_(file.parent_path() / fmt::format(".{}.lock", file.filename().string())) {
  for (;;) {
    descriptor_ = open(lock_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (descriptor_ < 0) {
      fail(ErrorCode::io, "cannot write `{}`: {}", printable(lock_.string()), errno_text(errno));
    }
    const bool is_mine = flock(descriptor_, LOCK_EX | LOCK_NB) == 0;
    if (is_mine && is_same_file(lock_, descriptor_)) break;
    close(descriptor_);
    if (!is_mine) fail(ErrorCode::usage, "another command is writing `{}`", printable(file.string()));
  }
  slot_ = remember_temporary(lock_.c_str());
}

FileClaim::~FileClaim() {
  std::error_code ignored;
  fs::remove(lock_, ignored);
  forget_temporary(slot_);
  close(descriptor_);
}

}  // namespace assay::debug
