#include "exec/foreign_library.h"

namespace assay::exec {

SharedLibrary open_library(const LibraryKind& kind, const FoundLibrary& found) {
  if (!found.path.empty()) return SharedLibrary::open(found.path);
  try {
    return SharedLibrary::open(std::filesystem::path(kind.loader_name));
  } catch (const Error&) {
    fail(ErrorCode::backend, "no {} library was found (`assay doctor -v` lists the places); {}", kind.title, kind.hint);
  }
}

}  // namespace assay::exec
