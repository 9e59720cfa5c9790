#include "backends/onnxrt/ort_session.h"
#include "exec/foreign_library.h"

namespace assay::backends {
namespace {

ir::NodeId find_node(const ir::Model& model, const std::string& name) {
  for (uint32_t i = 0; i < model.node_slots() && !name.empty(); ++i) {
    const ir::Node& node = model[ir::NodeId{i}];
    if (node.alive && !node.is_outputs && node.name == name) return ir::NodeId{i};
  }
  return {};
}

class OnnxRuntimeBackend final : public exec::LibraryBackend<ort::Library> {
 public:
  std::string_view name() const override { return "onnxrt"; }

  std::unique_ptr<exec::Session> prepare(const ir::Model& model, const exec::SessionOptions& options,
                                         Diagnostics& findings) const override {
    return ort::make_session(ort::Library::get(options.search), model, options, findings);
  }

 private:
  std::vector<std::string> providers(const ort::Library& library) const override { return library.providers(); }
  ir::NodeId blamed_node(const ir::Model& model, const Error& error) const override {
    return find_node(model, ort::node_in_message(error.message()));
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
