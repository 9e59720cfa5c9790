#include "exec/foreign_library.h"

#include <fmt/format.h>

namespace assay::exec {

SharedLibrary open_library(const LibraryKind& kind, const FoundLibrary& found) {
  if (!found.path.empty()) return SharedLibrary::open(found.path);
  try {
    return SharedLibrary::open(std::filesystem::path(kind.loader_name));
  } catch (const Error&) {
    throw Error(ErrorCode::backend, fmt::format("no {} library was found; {}", kind.title, kind.hint))
        .remedied_by("library_places");
  }
}

}  // namespace assay::exec
