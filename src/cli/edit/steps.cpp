#include "cli/edit/steps.h"

#include <limits>

#include "cli/options/values.h"

namespace assay::cli {

std::vector<OptionRow> step_rows() {
  return {{.names = {"--explain"}, .arity = Arity::flag, .help = "print every step: its number, what and why"},
          {.names = {"--stop-after-step"},
           .metavar = "N",
           .help = "apply the first N steps only: halving N finds the step that changes a result"}};
}

uint64_t last_step(const Arguments& arguments) {
  if (!arguments.has("--stop-after-step")) return std::numeric_limits<uint64_t>::max();
  return parse_count("--stop-after-step", arguments.value("--stop-after-step"));
}

void explain_steps(const ir::Rewriter& rewriter, Log& log) {
  for (const ir::RewriteStep& step : rewriter.steps()) log.info(rewriter.explain(step));
}

}  // namespace assay::cli
