#include "exec/foreign_library.h"

#include <fmt/format.h>

#include "base/text.h"

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

void* find_symbol(const LibraryKind& kind, const SharedLibrary& library, const char* name) {
  void* const found = library.find(name);
  if (found != nullptr) return found;
  fail(ErrorCode::backend, "`{}` is not {}, or too old: it has no `{}`", printable(library.path().string()), kind.title,
       name);
}

}  // namespace assay::exec
