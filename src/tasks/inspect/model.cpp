#include "analysis/cost.h"
#include "analysis/unbounded_sizes.h"
#include "base/text.h"
#include "inspect/model_listing.h"
#include "inspect/model_overview.h"
#include "onnx/text.h"
#include "tasks/inspect.h"
#include "tasks/inspect/memory.h"

namespace assay::tasks {

InspectedModel::InspectedModel(const InspectRequest& request, Observer& observer)
    : request_(request), loaded_(load_model(request.model, observer)) {
  if (request.infers || request.finds_unbounded || request.costs || request.memory) inference_ = infer_types(loaded_);
  if (request.infers) write_types(*inference_, loaded_);
  if (request.finds_unbounded) find_unbounded();
  tell_findings(loaded_.findings, observer);
  if (request.memory) memory_ = inspect_memory(request, loaded_, *inference_, observer);
}

InspectedModel::~InspectedModel() = default;

std::string InspectedModel::text() const { return onnx::to_text(loaded_.model); }

void InspectedModel::list(results::ModelListingSink& sink) const {
  inspect::ListingOptions options;
  options.layers = request_.layers || !request_.ops.empty() || !request_.names.empty();
  options.attributes = request_.attributes;
  options.weights = request_.weights;
  options.ops = request_.ops;
  options.names = request_.names;
  if (request_.costs) options.costs = inference_.get();
  inspect::list_model(loaded_.model, options, overview(), sink);
}

void InspectedModel::find_unbounded() {
  for (const ir::ValueId value : analysis::unbounded_sizes(loaded_.model, *inference_)) {
    const ops::Type& type = inference_->type(value);
    UnboundedSize found{.name = std::string(loaded_.model.text(loaded_.model[value].name)),
                        .shape = {},
                        .dtype = std::string(tensor::name(type.dtype))};
    if (type.dims) found.shape = ops::text(*type.dims);
    unbounded_.push_back(std::move(found));
  }
}

results::ModelOverview InspectedModel::overview() const {
  results::ModelOverview overview = inspect::model_overview(loaded_.model);
  overview.path = request_.model.path;
  overview.findings = loaded_.findings.all();
  overview.findings_dropped = loaded_.findings.dropped();
  if (request_.costs) overview.cost = analysis::model_cost(loaded_.model, *inference_);
  overview.memory = memory_;
  if (request_.finds_unbounded) {
    std::vector<std::string>& names = overview.unbounded_sizes.emplace();
    for (const UnboundedSize& size : unbounded_) names.push_back(size.name);
  }
  return overview;
}

void list_briefly(const ir::Model& model, results::ModelListingSink& sink) {
  inspect::list_model(model, {}, inspect::model_overview(model), sink);
}

}  // namespace assay::tasks
