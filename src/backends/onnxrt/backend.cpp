#include <fmt/format.h>

#include "backends/onnxrt/ort_options.h"
#include "backends/onnxrt/ort_session.h"
#include "exec/foreign_library.h"

namespace assay::backends {
namespace {

template <typename Predicate>
std::vector<ir::NodeId> nodes_where(const ir::Model& model, Predicate is_it) {
  std::vector<ir::NodeId> found;
  for (uint32_t i = 0; i < model.node_slots(); ++i) {
    const ir::Node& node = model[ir::NodeId{i}];
    if (node.alive && !node.is_outputs && is_it(node)) found.push_back(ir::NodeId{i});
  }
  return found;
}

class OnnxRuntimeBackend final : public exec::LibraryBackend<ort::Library> {
 public:
  std::string_view name() const override { return "onnxrt"; }
  std::string_view title() const override { return "ONNX Runtime"; }

  std::vector<exec::Setting> settings() const override {
    return {{.name = ort::kProviders,
             .alias = "execution-providers",
             .is_list = true,
             .choices = {},
             .help = "execution providers, in order of preference; a part of a name is enough; default: cpu"},
            {.name = ort::kPlugins,
             .is_list = true,
             .choices = {},
             .help = "execution providers from libraries of their own, NAME=LIBRARY, which go before others; a "
                     "part of a name is enough, and none where the library has one provider"},
            {.name = ort::kPluginOptions,
             .is_list = true,
             .choices = {},
             .help = "options for providers from libraries of their own, KEY=VALUE"},
            {.name = ort::kShowAssignment,
             .kind = exec::Setting::Kind::flag,
             .choices = {},
             .help = "tell which provider computes each node of the graph that ONNX Runtime runs"},
            {.name = ort::kOptimizationLevel,
             .choices = {"ORT_DISABLE_ALL", "ORT_ENABLE_BASIC", "ORT_ENABLE_EXTENDED", "ORT_ENABLE_ALL"},
             .help = "how far ONNX Runtime may rewrite the model; default: its own"}};
  }

  bool loads_strangers(const exec::Settings& settings) const override { return settings.has(ort::kPlugins); }

  std::vector<exec::SettingChange> stricter_settings(const exec::Settings&) const override {
    return {{std::string(ort::kOptimizationLevel), "ORT_DISABLE_ALL"}};
  }

  std::unique_ptr<exec::Session> prepare(const ir::Model& model, const exec::SessionOptions& options,
                                         Diagnostics& findings) const override {
    return ort::make_session(ort::Library::get(options.search), model, options, findings);
  }

  std::vector<ir::NodeId> blamed(const ir::Model& model, const Error& error) const override {
    const std::string op = ort::unregistered_op(error.message());
    if (!op.empty()) {
      return nodes_where(model, [&](const ir::Node& node) {
        const std::string_view domain = model.text(node.domain);
        return op == fmt::format("{}{}{}", domain, domain.empty() ? "" : ":", model.text(node.op));
      });
    }
    const std::string name = ort::node_in_message(error.message());
    if (name.empty()) return {};
    return nodes_where(model, [&](const ir::Node& node) { return node.name == name; });
  }

 private:
  std::vector<std::string> providers(const ort::Library& library) const override { return library.providers(); }
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
