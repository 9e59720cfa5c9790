#include <algorithm>

#include "backends/tensorrt/packages.h"
#include "base/parallel.h"
#include "base/paths.h"
#include "base/text.h"
#include "remote/isolated_backend.h"
#include "remote/python_host.h"

namespace assay::backends {
namespace {

constexpr std::string_view kEngine = "tensorrt-engine";
constexpr std::string_view kSave = "save-tensorrt-engine";

// The user's own TensorRT or TensorRT-RTX, driven by its Python package in a process of the user's Python.
class TensorRtBackend final : public exec::Backend {
 public:
  std::string_view name() const override { return "tensorrt"; }
  std::string_view title() const override { return "TensorRT"; }
  exec::BackendTraits traits() const override { return {.builds_engines = true}; }

  std::vector<exec::Setting> settings() const override {
    using Kind = exec::Setting::Kind;
    return {
        {.name = "trt-package",
         .help = "the name of the Python package that is used as `tensorrt`; what the engine is told of types, shapes "
                 "and tactics holds here too"},
        {.name = kEngine, .kind = Kind::input_file, .help = "run the engine of this file instead of building one"},
        {.name = kSave,
         .kind = Kind::output_file,
         .help = "save the engine that is run; where nothing is compared, it is built also without a GPU"},
        {.name = "compute-capabilities",
         .is_list = true,
         .help = "of TensorRT-RTX: the GPUs for which engines are built, as 8.9 12.0; default: 8.0 and later"},
        {.name = "use-gpu", .kind = Kind::flag, .help = "of TensorRT-RTX: build engines for the GPU of this machine"},
    };
  }

  exec::FoundLibrary library(const exec::LibrarySearch& search) const override { return find_tensorrt(search); }

  // The package is not imported: that takes seconds.
  exec::Probe probe(const exec::LibrarySearch& search) const override {
    const exec::FoundLibrary found = library(search);
    exec::Probe probe{
        .usable = !found.path.empty(), .version = found.version, .path = found.path, .tried = found.tried};
    if (!probe.usable) probe.version = "no Python package tensorrt was found; " + std::string(kTensorRtHint);
    return probe;
  }

  // Asks the parser alone: what it takes may still not be built.
  std::vector<exec::Refusal> refusals(const ir::Model& model, const exec::LibrarySearch& search) const override {
    exec::SessionOptions options;
    options.search = search;
    const auto asked =
        attempt([&] { return remote::worker_refusals(*host(search), model, request_of(options, false)); });
    if (const Error* const error = std::get_if<Error>(&asked)) return {{{}, error->line(), error->remedy()}};
    std::vector<ir::NodeId> nodes;
    for (const ir::NodeId node : ir::nodes(model, model.main_graph())) nodes.push_back(node);
    std::vector<exec::Refusal> found;
    for (const remote::RefusedPlace& refused : std::get<0>(asked)) {
      const bool is_node = refused.place && *refused.place < nodes.size();
      found.push_back({is_node ? nodes[*refused.place] : ir::NodeId{}, refused.reason, {}});
    }
    return found;
  }

  std::unique_ptr<exec::Session> prepare(const ir::Model& model, const exec::SessionOptions& options,
                                         Diagnostics& findings) const override {
    if (options.settings.has(kEngine)) return open_plan(options.settings.text(kEngine), options, findings);
    return remote::worker_session(host(options.search), &model, request_of(options, false), findings);
  }

  void build_plan(const ir::Model& model, const exec::SessionOptions& options, const std::filesystem::path& plan,
                  Diagnostics& findings) const override {
    exec::SessionOptions building = options;
    building.settings.set(std::string(kSave), {absolute_path(plan).string()});
    building.settings.erase(kEngine);
    prepare(model, building, findings);
  }

  std::unique_ptr<exec::Session> open_plan(const std::filesystem::path& plan, const exec::SessionOptions& options,
                                           Diagnostics& findings) const override {
    return remote::worker_session(host(options.search), nullptr, request_of_plan(plan, options), findings);
  }

 private:
  static std::unique_ptr<remote::RemoteProcess> host(const exec::LibrarySearch& search) {
    return remote::start_python_host({.search = search, .timeout_seconds = 0, .show = {}});
  }

  remote::PrepareRequest request_of(const exec::SessionOptions& options, bool is_plan) const {
    return {.backend = std::string(name()), .threads = thread_count(), .options = options, .is_plan = is_plan};
  }

  remote::PrepareRequest request_of_plan(const std::filesystem::path& plan, const exec::SessionOptions& options) const {
    remote::PrepareRequest request = request_of(options, true);
    request.options.path = absolute_path(plan);
    return request;
  }
};

}  // namespace
}  // namespace assay::backends

namespace assay::exec {

Backends backends_tensorrt_backend() {
  Backends backends;
  backends.push_back(std::make_unique<backends::TensorRtBackend>());
  return backends;
}

}  // namespace assay::exec
