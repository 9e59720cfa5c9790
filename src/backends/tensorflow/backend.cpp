#include "base/error.h"
#include "base/parallel.h"
#include "base/paths.h"
#include "exec/library_search.h"
#include "remote/isolated_backend.h"
#include "remote/python_host.h"

namespace assay::backends {
namespace {

constexpr std::string_view kHint =
    "`pip install tensorflow` brings one; for TFLite files `pip install ai-edge-litert` is enough";

constexpr std::string_view kOwnModels =
    "TensorFlow runs its own models as their files have them: no ONNX models, no changes";

exec::LibraryKind tensorflow_kind(std::string_view package, std::string_view distribution, std::string_view title) {
  return {.variable = "ASSAY_TENSORFLOW",
          .wheel_files = {package},
          .distribution = distribution,
          .system_names = {},
          .loader_name = {},
          .title = title,
          .hint = kHint};
}

// TensorFlow, or a package that has its interpreter of TFLite files alone.
exec::FoundLibrary find_tensorflow(const exec::LibrarySearch& search) {
  exec::FoundLibrary first =
      exec::find_library(tensorflow_kind("tensorflow/__init__.py", "tensorflow", "TensorFlow"), search);
  if (!first.path.empty()) return first;
  exec::FoundLibrary lite =
      exec::find_library(tensorflow_kind("ai_edge_litert/__init__.py", "ai_edge_litert", "LiteRT"), search);
  if (lite.path.empty()) {
    lite = exec::find_library(tensorflow_kind("tflite_runtime/__init__.py", "tflite_runtime", "TFLite"), search);
  }
  return lite.path.empty() ? first : lite;
}

// The user's own TensorFlow, in a process of the user's Python. It reads the files of its models by itself.
class TensorFlowBackend final : public exec::Backend {
 public:
  std::string_view name() const override { return "tf"; }
  std::string_view title() const override { return "TensorFlow"; }

  std::vector<exec::Setting> settings() const override {
    using Kind = exec::Setting::Kind;
    return {
        {.name = "ckpt",
         .help = "the checkpoint of a folder that is the model: its name without extension; default: the newest"},
        {.name = "freeze-graph", .kind = Kind::flag, .help = "make constants of variables before the graph is run"},
        {.name = "save-pb",
         .kind = Kind::output_file,
         .help = "save the graph that is run, with constants for variables"},
    };
  }

  exec::FoundLibrary library(const exec::LibrarySearch& search) const override { return find_tensorflow(search); }

  // The package is not imported: that takes seconds.
  exec::Probe probe(const exec::LibrarySearch& search) const override {
    const exec::FoundLibrary found = library(search);
    exec::Probe probe{
        .usable = !found.path.empty(), .version = found.version, .path = found.path, .tried = found.tried};
    if (!probe.usable) probe.version = "no Python package tensorflow was found; " + std::string(kHint);
    return probe;
  }

  std::vector<exec::Refusal> refusals(const ir::Model&, const exec::LibrarySearch&) const override {
    return {{{}, std::string(kOwnModels), {}}};
  }

  std::unique_ptr<exec::Session> prepare(const ir::Model&, const exec::SessionOptions&, Diagnostics&) const override {
    fail(ErrorCode::unsupported, "{}", kOwnModels);
  }

  std::unique_ptr<exec::Session> open_plan(const std::filesystem::path& plan, const exec::SessionOptions& options,
                                           Diagnostics& findings) const override {
    remote::PrepareRequest request{
        .backend = std::string(name()), .threads = thread_count(), .options = options, .is_plan = true};
    request.options.path = absolute_path(plan);
    auto host = remote::start_python_host({.search = options.search, .timeout_seconds = 0, .show = {}});
    return remote::worker_session(std::move(host), nullptr, request, findings);
  }
};

}  // namespace
}  // namespace assay::backends

namespace assay::exec {

Backends backends_tensorflow_backend() {
  Backends backends;
  backends.push_back(std::make_unique<backends::TensorFlowBackend>());
  return backends;
}

}  // namespace assay::exec
