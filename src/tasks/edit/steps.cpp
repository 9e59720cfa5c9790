#include "tasks/edit/steps.h"

namespace assay::tasks {

void explain_steps(const ir::Rewriter& rewriter, Observer& observer) {
  for (const ir::RewriteStep& step : rewriter.steps()) observer.info(rewriter.explain(step));
}

}  // namespace assay::tasks
