#include "exec/backend.h"

#include "base/error.h"
#include "base/text.h"

namespace assay::exec {

BackendPtr find_backend(std::string_view name) {
  std::vector<std::string> known;
  for (const Registered<Backends>& file : registered_backends()) {
    for (BackendPtr& backend : file.make()) {
      known.emplace_back(backend->name());
      if (backend->name() != name) continue;
      const Probe probe = backend->probe();
      if (!probe.usable) fail(ErrorCode::backend, "backend `{}` cannot be used: {}", name, probe.version);
      return std::move(backend);
    }
  }
  fail(ErrorCode::usage, "unknown backend `{}`; backends: {}", printable(name), join(known, ", "));
}

}  // namespace assay::exec
