#include "base/paths.h"
#include "base/stopwatch.h"
#include "base/text.h"
#include "exec/backend.h"
#include "formats/tensorrt_plan.h"
#include "remote/isolated_backend.h"
#include "remote/python_host.h"
#include "tasks/inspect.h"

namespace assay::tasks {
namespace {

constexpr std::string_view kTensorRt = "tensorrt";

results::ValueInfo foreign_info(const exec::Port& port) {
  results::ValueInfo info{.name = port.name, .type = {}, .shape = {}};
  if (!port.type || port.type->kind != ir::TypeKind::tensor) return info;
  if (port.type->dtype != tensor::DType::undefined) info.type = tensor::name(port.type->dtype);
  info.ranked = port.type->ranked;
  for (const exec::PortDim& dim : port.type->dims) info.shape.push_back({dim.size, ""});
  return info;
}

std::vector<results::EngineTensor> foreign_tensors(const std::vector<remote::ListedTensor>& tensors) {
  std::vector<results::EngineTensor> found;
  for (const remote::ListedTensor& tensor : tensors) {
    found.push_back({.info = foreign_info(tensor.port), .format = tensor.format, .range = {}});
  }
  return found;
}

void add_listing(const remote::Listing& told, results::EngineListing& listing) {
  listing.is_header = false;
  listing.name = told.name;
  listing.machine = told.library;
  listing.memory_bytes = told.memory_bytes;
  for (const exec::Port& input : told.signature.inputs) listing.inputs.push_back(foreign_info(input));
  for (const exec::Port& output : told.signature.outputs) listing.outputs.push_back(foreign_info(output));
  results::EngineProfile& profile = listing.profiles.emplace_back();
  profile.is_planned = true;
  for (const remote::ListedLayer& layer : told.layers) {
    profile.layers.push_back({.name = layer.name,
                              .op = layer.op,
                              .tactic = layer.tactic,
                              .origins = layer.origins,
                              .inputs = foreign_tensors(layer.inputs),
                              .outputs = foreign_tensors(layer.outputs)});
  }
}

// The layers of a model, or of the plan at the path.
remote::Listing ask(const ir::Model* model, const exec::SessionOptions& library, const std::filesystem::path& path,
                    Diagnostics& findings) {
  exec::find_backend(kTensorRt, library.search);
  remote::PrepareRequest request = {.backend = std::string(kTensorRt), .options = library, .is_plan = model == nullptr};
  request.options.path = path.empty() ? path : absolute_path(path);
  const auto host = remote::start_python_host({.search = library.search, .timeout_seconds = 0, .show = {}});
  return remote::worker_listing(*host, model, request, findings);
}

}  // namespace

bool is_foreign_engine(const ModelSource& source) {
  return source.model == nullptr && formats::read_tensorrt_plan(source.path).has_value();
}

results::EngineListing inspect_foreign_engine(const ModelSource& source, const exec::SessionOptions* library,
                                              Observer& observer) {
  observer.info("Loading plan: " + printable(absolute_path(source.path).lexically_normal().string()));
  const Stopwatch loading;
  const std::optional<formats::TensorRtPlan> plan = formats::read_tensorrt_plan(source.path);
  if (!plan) fail(ErrorCode::usage, "`{}` is no engine of TensorRT", printable(source.path));
  results::EngineListing listing;
  listing.path = source.path;
  listing.is_header = true;
  listing.machine = fmt::format("TensorRT{} {}", plan->is_rtx ? "-RTX" : "", plan->version);
  listing.capabilities = plan->capabilities;
  listing.file_bytes = plan->file_bytes;
  if (library != nullptr) {
    Diagnostics findings;
    add_listing(ask(nullptr, *library, source.path, findings), listing);
    tell_findings(findings, observer);
  }
  listing.timings = {{"load_seconds", loading.seconds()}};
  return listing;
}

results::EngineListing inspect_foreign_network(const ModelSource& source, const exec::SessionOptions& library,
                                               Observer& observer) {
  const LoadedModel loaded = load_model(source, observer);
  tell_findings(loaded.findings, observer);
  require_runnable(loaded);
  results::EngineListing listing;
  listing.is_network = true;
  listing.path = source.path;
  Diagnostics findings;
  add_listing(ask(&loaded.model, library, runnable_path(source), findings), listing);
  tell_findings(findings, observer);
  listing.timings = {{"load_seconds", loaded.load_seconds}};
  return listing;
}

}  // namespace assay::tasks
