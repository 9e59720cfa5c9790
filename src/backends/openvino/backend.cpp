#include <set>

#include <fmt/format.h>

#include "backends/openvino/ov_compile.h"
#include "backends/openvino/ov_file_session.h"
#include "backends/openvino/ov_session.h"
#include "base/text.h"
#include "exec/foreign_library.h"

namespace assay::backends {
namespace {

class OpenVinoBackend final : public exec::LibraryBackend<ov::Library> {
 public:
  std::string_view name() const override { return "openvino"; }
  std::string_view title() const override { return "OpenVINO"; }

  std::vector<exec::Setting> settings() const override {
    return {{.name = ov::kDevice, .choices = {}, .help = "the device; a part of its name is enough; default: CPU"},
            {.name = ov::kMode,
             .choices = {ov::kModes.begin(), ov::kModes.end()},
             .help = "whether the device may compute in a type of less precision; default: float32 throughout"}};
  }

  std::vector<exec::SettingChange> stricter_settings(const exec::Settings&) const override {
    return {{std::string(ov::kMode), "ACCURACY"}};
  }

  // "... No conversion rule found for operations: com.microsoft.Nope, my.Thing"
  std::vector<ir::NodeId> blamed(const ir::Model& model, const Error& error) const override {
    constexpr std::string_view kBefore = "No conversion rule found for operations: ";
    const std::string& message = error.message();
    const size_t begin = message.find(kBefore);
    if (begin == std::string::npos) return {};
    const std::string_view list = std::string_view(message).substr(begin + kBefore.size());
    std::set<std::string, std::less<>> ops;
    for (std::string_view op : split(list.substr(0, list.find('\n')), ',')) {
      op.remove_prefix(std::min(op.find_first_not_of(' '), op.size()));
      ops.emplace(op.substr(0, op.find(' ')));
    }
    std::vector<ir::NodeId> found;
    for (uint32_t i = 0; i < model.node_slots(); ++i) {
      const ir::Node& node = model[ir::NodeId{i}];
      if (!node.alive || node.is_outputs) continue;
      const std::string_view domain = model.text(node.domain);
      const std::string_view op = model.text(node.op);
      const bool is_named = ops.contains(fmt::format("{}.{}", domain.empty() ? "ai.onnx" : domain, op)) ||
                            (domain.empty() && ops.contains(op));
      if (is_named) found.push_back(ir::NodeId{i});
    }
    return found;
  }

  std::unique_ptr<exec::Session> prepare(const ir::Model& model, const exec::SessionOptions& options,
                                         Diagnostics&) const override {
    try {
      return ov::make_session(ov::Library::get(options.search), model, options);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::unsupported || model.functions().empty()) throw;
      throw Error(error.code(), error.message() + "; the model has functions, which OpenVINO does not inline")
          .remedied_by("inline_functions");
    }
  }

  // A model of TensorFlow, which the library reads by itself.
  std::unique_ptr<exec::Session> open_plan(const std::filesystem::path& plan, const exec::SessionOptions& options,
                                           Diagnostics&) const override {
    return ov::make_file_session(ov::Library::get(options.search), plan, options);
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
