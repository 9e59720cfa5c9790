#include "tasks/edit/steps.h"

namespace assay::tasks {
namespace {

std::vector<std::string> names_of(const ir::Model& model, const std::vector<ir::NodeId>& nodes) {
  std::vector<std::string> names;
  for (const ir::NodeId node : nodes) names.emplace_back(ir::known_name(model, node));
  return names;
}

}  // namespace

std::vector<results::StepListing> explain_steps(const ir::Rewriter& rewriter, Observer& observer) {
  std::vector<results::StepListing> steps;
  const ir::Model& model = rewriter.model();
  for (const ir::RewriteStep& step : rewriter.steps()) {
    results::StepListing& listing = steps.emplace_back();
    listing.explanation = rewriter.explain(step);
    listing.removed = names_of(model, step.removed);
    listing.added = names_of(model, step.added);
    if (step.changed) listing.changed = ir::known_name(model, step.changed);
    observer.info(listing.explanation);
  }
  return steps;
}

}  // namespace assay::tasks
