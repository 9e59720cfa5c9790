#include "exec/backend.h"

#include "base/error.h"
#include "base/text.h"

namespace assay::exec {

BackendPtr make_backend(std::string_view name) {
  std::vector<std::string> known;
  for (const Registered<Backends>& file : registered_backends()) {
    for (BackendPtr& backend : file.make()) {
      if (backend->name() == name) return std::move(backend);
      known.emplace_back(backend->name());
    }
  }
  fail(ErrorCode::usage, "unknown backend `{}`; backends: {}", printable(name), join(known, ", "));
}

BackendPtr find_backend(std::string_view name, const LibrarySearch& search) {
  BackendPtr backend = make_backend(name);
  const Probe probe = backend->probe(search);
  if (!probe.usable) fail(ErrorCode::backend, "backend `{}` cannot be used: {}", name, probe.version);
  return backend;
}

}  // namespace assay::exec
