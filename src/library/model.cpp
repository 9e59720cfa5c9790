#include "base/error.h"
#include "inspect/model_overview.h"
#include "library/content.h"
#include "library/observer.h"
#include "onnx/import.h"
#include "onnx/known_operators.h"
#include "onnx/text.h"
#include "tasks/save.h"

namespace assay {
namespace {

constexpr const char* kInMemory = "the model";  // in messages

std::string text_of(const results::Dim& dim) {
  if (dim.value) return std::to_string(*dim.value);
  return dim.symbol.empty() ? "?" : dim.symbol;
}

ValueInfo value_info(const ir::Model& model, ir::ValueId value) {
  const results::ValueInfo known = inspect::value_info(model, value);
  ValueInfo info{known.name, known.type, std::nullopt};
  if (!known.ranked) return info;
  info.shape.emplace();
  for (const results::Dim& dim : known.shape) info.shape->push_back(text_of(dim));
  return info;
}

std::string name_of(const ir::Model& model, ir::ValueId value) {
  return value ? std::string(model.text(model[value].name)) : std::string();
}

NodeInfo node_info(const ir::Model& model, const ir::Node& node) {
  NodeInfo info{std::string(node.name), std::string(model.text(node.op)), std::string(model.text(node.domain)), {}, {}};
  for (const ir::Use& use : node.operands) info.inputs.push_back(name_of(model, use.value));
  for (const ir::ValueId value : node.results) info.outputs.push_back(name_of(model, value));
  return info;
}

onnx::SaveOptions save_options(const SaveOptions& options) {
  onnx::SaveOptions result;
  if (!options.external_file.empty()) result.external_name = options.external_file;
  result.threshold = options.external_threshold;
  return result;
}

}  // namespace

Model::Model(std::shared_ptr<const Content> content) : content_(std::move(content)) {}

Model Model::load(const std::string& path, const LoadOptions& options, Observer* observer) {
  library::TaskObserver watching(observer);
  tasks::LoadedModel loaded = tasks::load_model({.path = path,
                                                 .type = {},
                                                 .external_folder = options.external_folder,
                                                 .ignore_external_data = options.ignore_external_data},
                                                watching);
  tasks::tell_findings(loaded.findings, watching);
  return library::make_model(std::move(loaded.model), path, loaded.findings.all());
}

Model Model::from_text(std::string_view text) {
  Diagnostics findings;
  ir::Model model = onnx::parse_text(text, findings);
  onnx::check_operators(model, findings);
  return library::make_model(std::move(model), kInMemory, findings.all());
}

Model Model::from_bytes(std::span<const std::byte> bytes) {
  Diagnostics findings;
  ir::Model model = onnx::import_document(onnx::Document(MappedFile::from_bytes(bytes, kInMemory)), {}, findings);
  onnx::check_operators(model, findings);
  return library::make_model(std::move(model), kInMemory, findings.all());
}

void Model::save(const std::string& path, const SaveOptions& options, Observer* observer) const {
  library::TaskObserver watching(observer);
  ir::Model copy = content_->model.copy();
  tasks::save_model(copy, path, save_options(options), watching);
}

std::vector<std::byte> Model::bytes() const { return onnx::encode(content_->model).bytes; }
std::string Model::text() const { return onnx::to_text(content_->model); }
const std::vector<Finding>& Model::findings() const { return content_->findings; }

std::vector<ValueInfo> Model::inputs() const {
  const ir::Model& model = content_->model;
  std::vector<ValueInfo> infos;
  for (const ir::ValueId value : model[model.main_graph()].inputs) infos.push_back(value_info(model, value));
  return infos;
}

std::vector<ValueInfo> Model::outputs() const {
  const ir::Model& model = content_->model;
  std::vector<ValueInfo> infos;
  for (const ir::Use& use : model.outputs(model.main_graph())) {
    if (use.value) infos.push_back(value_info(model, use.value));
  }
  return infos;
}

std::vector<NodeInfo> Model::nodes() const {
  const ir::Model& model = content_->model;
  std::vector<NodeInfo> infos;
  for (const ir::NodeId node : ir::nodes(model, model.main_graph())) infos.push_back(node_info(model, model[node]));
  return infos;
}

namespace library {

Finding to_finding(const Diagnostic& diagnostic) {
  return {static_cast<Finding::Severity>(diagnostic.severity), std::string(diagnostic.code), diagnostic.node,
          diagnostic.message, diagnostic.remedy};
}

Model make_model(ir::Model model, std::string path, const std::vector<Diagnostic>& findings) {
  std::vector<Finding> all;
  for (const Diagnostic& finding : findings) all.push_back(to_finding(finding));
  return Model(
      std::make_shared<const Model::Content>(Model::Content{std::move(model), std::move(path), std::move(all)}));
}

tasks::ModelSource source_of(const Model& model) {
  return {.path = model.content().path, .model = &model.content().model, .type = {}, .external_folder = {}};
}

}  // namespace library
}  // namespace assay
