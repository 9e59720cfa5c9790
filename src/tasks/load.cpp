#include "tasks/load.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/paths.h"
#include "base/stopwatch.h"
#include "base/text.h"
#include "engine/plan/saved_plan.h"
#include "ir/verify.h"
#include "onnx/known_operators.h"
#include "onnx/load.h"
#include "ops/write_types.h"
#include "tasks/edit.h"
#include "tasks/network_script.h"
#include "tensorflow/import/import.h"
#include "tensorflow/read.h"

namespace assay::tasks {
namespace fs = std::filesystem;

namespace {

constexpr std::string_view kOnlyRun =
    "only `run`, `bench`, `profile` and `inspect model` take plans of the engine, and only `inspect model` engines of "
    "TensorRT";
constexpr std::string_view kNetworkScript = "trt-network-script";
constexpr std::string_view kNoGraph = "it is no graph of TensorFlow";
constexpr std::string_view kExportTensorFlow =
    "of TensorFlow's models, frozen graphs, SavedModels and TFLite files are read; export it as one of them";

// The kind of a file by its name, and the reason for which it cannot be loaded, if there is one.
struct ModelKind {
  std::string_view extension;
  std::string_view type;
  std::string_view refusal;
};

constexpr std::array kModelKinds = {
    ModelKind{".engine", "engine", kOnlyRun},
    ModelKind{".plan", "engine", kOnlyRun},
    ModelKind{".py", kNetworkScript, ""},
    ModelKind{".pb", "frozen", kNoGraph},
    ModelKind{".graphdef", "frozen", kNoGraph},
    ModelKind{".hdf5", "keras", kExportTensorFlow},
    ModelKind{"", "ckpt", kExportTensorFlow},
    ModelKind{".uff", "uff", "UFF models are not supported"},
    ModelKind{".caffemodel", "caffe", "Caffe models are not supported"},
};

// True for an ONNX model under the name of a graph of TensorFlow.
bool is_onnx_named_as_graph(const std::string& path, std::string_view kind) {
  return kind == "frozen" && is_file(path) && !tensorflow::is_model(path);
}

// Null: an ONNX model, as far as its name says.
const ModelKind* kind_of(const std::string& path, const std::string& type) {
  if (type == "onnx") return nullptr;
  const size_t colon = path.rfind(':');
  const std::string file = path.substr(0, path.find(".py:") == std::string::npos ? path.size() : colon);
  const std::string extension = to_lower(fs::path(file).extension().string());
  const auto kind = std::ranges::find_if(kModelKinds, [&](const ModelKind& known) {
    return type.empty() ? !known.extension.empty() && known.extension == extension : known.type == type;
  });
  if (kind == kModelKinds.end() || (type.empty() && is_onnx_named_as_graph(path, kind->type))) return nullptr;
  return &*kind;
}

void refuse_other_kinds(const std::string& path, const std::string& type) {
  const ModelKind* const kind = kind_of(path, type);
  const bool is_missing_graph = kind != nullptr && kind->type == "frozen" && !is_there(path);
  if (kind != nullptr && !is_missing_graph) {
    fail(ErrorCode::unsupported, "`{}` is a model of type {}: {}", printable(path), kind->type, kind->refusal);
  }
  if (engine::PlanFile::is_plan(path)) fail(ErrorCode::unsupported, "`{}` is a plan: {}", printable(path), kOnlyRun);
}

bool is_network_script(const ModelSource& source) {
  const ModelKind* const kind = kind_of(source.path, source.type);
  return kind != nullptr && kind->type == kNetworkScript;
}

// The findings of import, for a model that was never a file.
Diagnostics findings_of(const ir::Model& model) {
  Diagnostics findings;
  ir::verify(model, findings);
  onnx::check_operators(model, findings);
  return findings;
}

ir::Model with_opset(const ir::Model& model, int64_t version) {
  SanitizeRequest request{.edit = {.model = {.path = "tensorflow", .model = &model}}};
  set_opset(version, request.passes);
  Observer silent;
  return sanitize(request, silent).model;
}

// A model of TensorFlow, made of ONNX's operators.
LoadedModel load_tensorflow(const ModelSource& source, Observer& observer) {
  observer.info("Loading model: " + printable(absolute_path(source.path).lexically_normal().string()));
  const Stopwatch loading;
  ir::Model model = tensorflow::import_model(
      source.path,
      {.signature = source.signature, .outputs = source.graph_outputs, .keeps_values = source.keeps_values});
  if (source.opset != 0) model = with_opset(model, source.opset);
  observer.on_loaded(model, source.path);
  Diagnostics findings = findings_of(model);
  return {std::move(model), std::move(findings), loading.seconds()};
}

}  // namespace

bool is_engine_file(const ModelSource& source) {
  if (source.model != nullptr) return false;
  const ModelKind* const kind = kind_of(source.path, source.type);
  return (kind != nullptr && kind->type == "engine") || engine::PlanFile::is_plan(source.path);
}

bool is_tensorflow_model(const ModelSource& source) {
  if (source.model != nullptr || source.path.empty() || source.path == "-") return false;
  if (source.type == "frozen" || source.type == "ckpt") return is_there(source.path);
  return (source.type.empty() || source.type == "keras") && tensorflow::is_model(source.path);
}

fs::path runnable_path(const ModelSource& source) {
  const bool is_text = to_lower(fs::path(source.path).extension().string()) == ".onnxtxt";
  const bool is_elsewhere = !source.external_folder.empty() || source.ignore_external_data;
  const bool is_other = source.model != nullptr || source.path == "-" || is_text || is_elsewhere ||
                        is_network_script(source) || is_tensorflow_model(source);
  return is_other ? "" : source.path;
}

LoadedModel load_plan_source(const ModelSource& source, Observer& observer) {
  observer.info("Loading plan: " + printable(absolute_path(source.path).lexically_normal().string()));
  const Stopwatch loading;
  ir::Model model = engine::open_plan(source.path).source().copy();
  observer.on_loaded(model, source.path);
  return {std::move(model), Diagnostics(), loading.seconds()};
}

// Adds the shapes of the plan's profile, if it is one of ours. A wrong number of a profile is reported when the plan is
// opened to run.
void add_plan_shapes(const std::string& plan, const exec::Settings& settings, std::vector<exec::InputShape>& shapes) {
  if (!engine::PlanFile::is_plan(plan)) return;
  const std::string text = settings.text("optimization-profile");
  size_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  const std::vector<engine::Profile> profiles = engine::read_manifest_of(plan).profiles;
  for (const engine::ShapeRange& range : profiles[std::min(number, profiles.size() - 1)]) {
    const auto names_it = [&](const exec::InputShape& shape) {
      return shape.pattern == range.input || matches_glob(shape.pattern, range.input);
    };
    if (std::ranges::none_of(shapes, names_it)) shapes.push_back({range.input, range.best});
  }
}

LoadedModel load_model(const ModelSource& source, Observer& observer) {
  check_cancelled(observer);
  if (source.model != nullptr) return {source.model->copy(), findings_of(*source.model), 0};
  if (is_tensorflow_model(source)) return load_tensorflow(source, observer);
  if (!source.signature.empty() || !source.graph_outputs.empty()) {
    fail(ErrorCode::usage,
         "`{}` is no model of TensorFlow, of which a signature or outputs of the graph could be chosen",
         printable(source.path));
  }
  if (is_network_script(source)) return load_network_script(source.path, source.python, observer);
  refuse_other_kinds(source.path, source.type);
  observer.info("Loading model: " +
                printable(source.path == "-" ? source.path : absolute_path(source.path).lexically_normal().string()));
  const Stopwatch loading;
  Diagnostics findings;
  const onnx::LoadOptions options = {.external_folder = source.external_folder,
                                     .ignore_external_data = source.ignore_external_data,
                                     .is_onnx = source.type == "onnx"};
  ir::Model model = onnx::load(source.path, options, findings);
  observer.on_loaded(model, source.path);
  return {std::move(model), std::move(findings), loading.seconds()};
}

void require_runnable(const LoadedModel& loaded) {
  for (const Diagnostic& finding : loaded.findings.all()) {
    if (finding.severity != Severity::error) continue;
    const size_t more = loaded.findings.error_count() - 1;
    fail(ErrorCode::parse, "the model cannot be run: {}{}{}{} (`check lint` lists everything)", finding.node,
         finding.node.empty() ? "" : ": ", finding.message, more ? fmt::format(", and {} more", more) : "");
  }
}

void tell_findings(const Diagnostics& findings, Observer& observer) {
  std::set<std::string_view> told;
  for (const Diagnostic& finding : findings.all()) {
    if (told.insert(finding.message).second) observer.on_finding(finding);
  }
  if (findings.dropped() > 0) {
    observer.warning(fmt::format("{} more findings are not shown", findings.dropped()));
  }
}

std::unique_ptr<ops::Inference> infer_types(LoadedModel& loaded) {
  auto inference = std::make_unique<ops::Inference>(loaded.model);
  inference->run();
  for (const ops::InferenceFinding& finding : inference->findings()) {
    const std::string node = ir::describe(loaded.model, finding.node);
    loaded.findings.warn("inference", node, fmt::format("{}: {}", node, finding.message));
  }
  return inference;
}

void write_types(const ops::Inference& inference, LoadedModel& loaded) { ops::write_types(inference, loaded.model); }

void infer_shapes(LoadedModel& loaded) { write_types(*infer_types(loaded), loaded); }

}  // namespace assay::tasks
