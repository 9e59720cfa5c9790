#include "backends/openvino/ov_session.h"
#include "exec/foreign_library.h"

namespace assay::backends {
namespace {

class OpenVinoBackend final : public exec::LibraryBackend<ov::Library> {
 public:
  std::string_view name() const override { return "openvino"; }

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
