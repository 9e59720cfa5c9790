#include "formats/new_folder.h"

#include "base/error.h"
#include "base/paths.h"
#include "base/signal_tables.h"
#include "base/text.h"

namespace assay::formats {
namespace fs = std::filesystem;

NewFolder::NewFolder(const fs::path& path) : path_(path), is_made_(!is_there(path)) {
  std::error_code error;
  fs::create_directories(path, error);
  if (!is_folder(path)) {
    fail(ErrorCode::io, "cannot make the folder `{}`: {}", printable(path.native()), error.message());
  }
  const bool is_empty = fs::is_empty(path, error);
  if (error) fail(ErrorCode::io, "cannot read the folder `{}`: {}", printable(path.native()), error.message());
  if (is_made_) slot_ = remember_temporary(fs::absolute(path, error).c_str());
  if (!is_empty) fail(ErrorCode::usage, "cannot save to `{}`: the folder is not empty", printable(path.native()));
}

void NewFolder::commit() {
  is_complete_ = true;
  forget_temporary(slot_);
}

NewFolder::~NewFolder() {
  if (is_complete_) return;
  forget_temporary(slot_);
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(path_, error)) fs::remove_all(entry.path(), error);
  if (is_made_) fs::remove(path_, error);
}

}  // namespace assay::formats
