#include "tasks/edit/steps.h"

namespace assay::tasks {

std::vector<std::string> explain_steps(const ir::Rewriter& rewriter, Observer& observer) {
  std::vector<std::string> steps;
  for (const ir::RewriteStep& step : rewriter.steps()) {
    steps.push_back(rewriter.explain(step));
    observer.info(steps.back());
  }
  return steps;
}

}  // namespace assay::tasks
