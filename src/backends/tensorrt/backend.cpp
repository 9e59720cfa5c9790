#include "base/parallel.h"
#include "base/paths.h"
#include "exec/library_search.h"
#include "remote/isolated_backend.h"
#include "remote/python_host.h"

namespace assay::backends {
namespace {

constexpr std::string_view kEngine = "tensorrt-engine";

const exec::LibraryKind& package_kind() {
  static const exec::LibraryKind kind = {.variable = "ASSAY_TENSORRT",
                                         .wheel_files = {"tensorrt/__init__.py", "__init__.py"},
                                         .distribution = "tensorrt",
                                         .system_names = {},
                                         .loader_name = {},
                                         .title = "TensorRT",
                                         .hint = "`pip install tensorrt` brings one"};
  return kind;
}

// The user's own TensorRT, driven by its Python package in a process of the user's Python.
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
        {.name = "save-tensorrt-engine", .kind = Kind::output_file, .help = "save the engine that is run"},
    };
  }

  exec::FoundLibrary library(const exec::LibrarySearch& search) const override {
    return exec::find_library(package_kind(), search);
  }

  // The package is not imported: that takes seconds.
  exec::Probe probe(const exec::LibrarySearch& search) const override {
    const exec::FoundLibrary found = library(search);
    exec::Probe probe{
        .usable = !found.path.empty(), .version = found.version, .path = found.path, .tried = found.tried};
    if (!probe.usable) probe.version = "no Python package tensorrt was found; " + std::string(package_kind().hint);
    return probe;
  }

  std::vector<exec::Refusal> refusals(const ir::Model& model, const exec::LibrarySearch& search) const override {
    return exec::refusals_of_preparing(*this, *this, model, search);
  }

  std::unique_ptr<exec::Session> prepare(const ir::Model& model, const exec::SessionOptions& options,
                                         Diagnostics& findings) const override {
    remote::PrepareRequest request = {
        .backend = std::string(name()), .threads = thread_count(), .options = options, .is_plan = false};
    if (!options.settings.has(kEngine)) return session(&model, request, findings);
    return open_plan(options.settings.text(kEngine), options, findings);
  }

  std::unique_ptr<exec::Session> open_plan(const std::filesystem::path& plan, const exec::SessionOptions& options,
                                           Diagnostics& findings) const override {
    remote::PrepareRequest request = {
        .backend = std::string(name()), .threads = thread_count(), .options = options, .is_plan = true};
    request.options.path = absolute_path(plan);
    return session(nullptr, request, findings);
  }

 private:
  static std::unique_ptr<exec::Session> session(const ir::Model* model, const remote::PrepareRequest& request,
                                                Diagnostics& findings) {
    const remote::PythonOptions python = {.search = request.options.search, .timeout_seconds = 0, .show = {}};
    return remote::worker_session(remote::start_python_host(python), model, request, findings);
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
