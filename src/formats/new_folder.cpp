#include "formats/new_folder.h"

#include <cerrno>

#include <sys/stat.h>

#include "base/errno_text.h"
#include "base/error.h"
#include "base/paths.h"
#include "base/signal_tables.h"
#include "base/text.h"

namespace assay::formats {
namespace fs = std::filesystem;

namespace {

// Makes the folder. Returns its slot among the things that a signal removes.
int make_folder(const fs::path& path) {
  const fs::path full = absolute_path(path.has_filename() ? path : path.parent_path());
  std::error_code error;
  fs::create_directories(full.parent_path(), error);
  if (!error) {
    if (const std::optional<int> slot = make_remembered_folder(full.c_str(), S_IRWXU | S_IRWXG | S_IRWXO)) return *slot;
    error.assign(errno, std::generic_category());
  }
  fail(ErrorCode::io, "cannot make the folder `{}`: {}", printable(path.native()), errno_text(error.value()));
}

}  // namespace

NewFolder::NewFolder(const fs::path& path) : path_(path), is_made_(!is_there(path)) {
  if (is_made_) slot_ = make_folder(path);
  std::error_code error;
  if (!is_folder(path)) {
    fail(ErrorCode::io, "cannot make the folder `{}`: {}", printable(path.native()), errno_text(ENOTDIR));
  }
  const bool is_empty = fs::is_empty(path, error);
  if (error)
    fail(ErrorCode::io, "cannot read the folder `{}`: {}", printable(path.native()), errno_text(error.value()));
  if (!is_empty) fail(ErrorCode::usage, "cannot save to `{}`: the folder is not empty", printable(path.native()));
}

void NewFolder::commit() {
  is_complete_ = true;
  forget_temporary(slot_);
}

NewFolder::~NewFolder() {
  if (is_complete_) return;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(path_, error)) fs::remove_all(entry.path(), error);
  if (is_made_) fs::remove(path_, error);
  forget_temporary(slot_);
}

}  // namespace assay::formats
