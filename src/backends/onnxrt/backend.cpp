#include "exec/backend.h"

#include "backends/onnxrt/ort_session.h"
#include "base/error.h"

namespace assay::backends {
namespace {

ir::NodeId find_node(const ir::Model& model, const std::string& name) {
  for (uint32_t i = 0; i < model.node_slots() && !name.empty(); ++i) {
    const ir::Node& node = model[ir::NodeId{i}];
    if (node.alive && !node.is_outputs && node.name == name) return ir::NodeId{i};
  }
  return {};
}

class OnnxRuntimeBackend final : public exec::Backend {
 public:
  std::string_view name() const override { return "onnxrt"; }

  exec::FoundLibrary library(const exec::LibrarySearch& search) const override { return ort::Library::find(search); }

  exec::Probe probe(const exec::LibrarySearch& search) const override {
    exec::Probe probe;
    probe.tried = library(search).tried;
    try {
      const ort::Library& opened = ort::Library::get(search);
      probe.version = opened.version();
      probe.path = opened.path().string();
      probe.providers = opened.providers();
      probe.usable = true;
    } catch (const Error& error) {
      probe.version = error.line();
    }
    return probe;
  }

  // The library judges a model as a whole and stops at the first fault.
  std::vector<exec::Refusal> refusals(const ir::Model& model, const exec::LibrarySearch& search) const override {
    exec::SessionOptions options;
    options.search = search;
    Diagnostics findings;
    try {
      prepare(model, options, findings);
    } catch (const Error& error) {
      return {{find_node(model, ort::node_in_message(error.message())), error.line()}};
    }
    return {};
  }

  std::unique_ptr<exec::Session> prepare(const ir::Model& model, const exec::SessionOptions& options,
                                         Diagnostics& findings) const override {
    return ort::make_session(ort::Library::get(options.search), model, options, findings);
  }
};

}  // namespace
}  // namespace assay::backends

namespace assay::exec {

Backends backends_onnxrt_backend() {
  Backends backends;
  backends.push_back(std::make_unique<backends::OnnxRuntimeBackend>());
  return backends;
}

}  // namespace assay::exec
