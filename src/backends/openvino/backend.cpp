#include "exec/backend.h"

#include "backends/openvino/ov_session.h"
#include "base/error.h"

namespace assay::backends {
namespace {

class OpenVinoBackend final : public exec::Backend {
 public:
  std::string_view name() const override { return "openvino"; }

  exec::FoundLibrary library(const exec::LibrarySearch& search) const override { return ov::Library::find(search); }

  exec::Probe probe(const exec::LibrarySearch& search) const override {
    exec::Probe probe;
    probe.tried = library(search).tried;
    try {
      const ov::Library& opened = ov::Library::get(search);
      probe.version = opened.version();
      probe.path = opened.path().string();
      probe.usable = true;
    } catch (const Error& error) {
      probe.version = error.line();
    }
    return probe;
  }

  // The library judges a model as a whole.
  std::vector<exec::Refusal> refusals(const ir::Model& model, const exec::LibrarySearch& search) const override {
    exec::SessionOptions options;
    options.search = search;
    try {
      ov::make_session(ov::Library::get(search), model, options);
    } catch (const Error& error) {
      return {{{}, error.line()}};
    }
    return {};
  }

  std::unique_ptr<exec::Session> prepare(const ir::Model& model, const exec::SessionOptions& options,
                                         Diagnostics&) const override {
    return ov::make_session(ov::Library::get(options.search), model, options);
  }
};

}  // namespace
}  // namespace assay::backends

namespace assay::exec {

Backends backends_openvino_backend() {
  Backends backends;
  backends.push_back(std::make_unique<backends::OpenVinoBackend>());
  return backends;
}

}  // namespace assay::exec
