#include "base/text.h"
#include "engine/layers/layer.h"
#include "engine/lowering/lower.h"
#include "engine/program/layer_record.h"
#include "ops/write_types.h"
#include "tasks/inspect.h"

namespace assay::tasks {
namespace {

class Network {
 public:
  explicit Network(LoadedModel& loaded) : model_(loaded.model), source_(loaded.model.copy()) {
    ir::Rewriter rewriter(model_);
    engine::lower(model_, rewriter);
    types_ = std::make_unique<ops::Inference>(model_);
    types_->run();
  }

  void describe(results::EngineListing& listing) const {
    listing.is_network = true;
    listing.name = model_.text(model_[model_.main_graph()].name);
    const ir::Graph& graph = model_[model_.main_graph()];
    for (const ir::ValueId input : graph.inputs) listing.inputs.push_back(info(input));
    for (const ir::Use& output : model_.outputs(model_.main_graph())) listing.outputs.push_back(info(output.value));
    results::EngineProfile& profile = listing.profiles.emplace_back();
    profile.is_planned = true;
    for (const ir::NodeId node : ir::nodes(model_, model_.main_graph())) profile.layers.push_back(layer(node));
  }

  // With the types of all values.
  void save(const std::string& path, const onnx::SaveOptions& options) {
    ops::write_types(*types_, model_);
    onnx::save(model_, path, options);
  }

 private:
  results::ValueInfo info(ir::ValueId value) const {
    results::ValueInfo found{.name = std::string(model_.text(model_[value].name)), .type = {}, .shape = {}};
    ops::Type type = types_->type(value);
    if (const tensor::Tensor* const constant = engine::constant_of(model_, *types_, value)) {
      type = ops::Type::tensor(constant->dtype(), ops::dims_of(constant->shape()));
    }
    if (!type.is_tensor() || type.dtype == tensor::DType::undefined) return found;
    found.type = tensor::name(type.dtype);
    found.ranked = type.dims.has_value();
    if (!type.dims) return found;
    for (const ops::Dim& dim : *type.dims) found.shape.push_back({dim.number(), ""});
    return found;
  }

  results::EngineLayer layer(ir::NodeId node) const {
    results::EngineLayer found{
        .name = std::string(engine::layer_name(model_, node)), .op = engine::layer_op(model_, node), .tactic = {}};
    for (const ir::NodeId origin : model_.origins().of(node)) {
      const std::string_view name = source_[origin].name;
      found.origins.emplace_back(name.empty() ? engine::layer_name(source_, origin) : name);
    }
    for (const ir::Use& use : model_[node].operands) {
      if (use.value.valid()) found.inputs.push_back({.info = info(use.value), .format = {}, .range = {}});
    }
    for (const ir::ValueId result : model_[node].results) {
      if (result.valid()) found.outputs.push_back({.info = info(result), .format = {}, .range = {}});
    }
    return found;
  }

  ir::Model& model_;
  const ir::Model source_;
  std::unique_ptr<ops::Inference> types_;
};

}  // namespace

results::EngineListing inspect_network(const ModelSource& model, Observer& observer) {
  LoadedModel loaded = load_model(model, observer);
  tell_findings(loaded.findings, observer);
  require_runnable(loaded);
  results::EngineListing listing;
  listing.path = model.path;
  listing.timings = {{"load_seconds", loaded.load_seconds}};
  Network(loaded).describe(listing);
  return listing;
}

void save_network(const ModelSource& model, const std::string& path, const onnx::SaveOptions& options,
                  Observer& observer) {
  LoadedModel loaded = load_model(model, observer);
  tell_findings(loaded.findings, observer);
  require_runnable(loaded);
  observer.info("Saving ONNX model to: " + printable(path));
  Network(loaded).save(path, options);
}

}  // namespace assay::tasks
