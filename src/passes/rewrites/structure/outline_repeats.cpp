// Before: runs of nodes that stand in the graph several times, alike but for their inputs and weights, as the layers of
//         a network do.
// After:  a function with the nodes, and a call in each place. Small constants that all have in common go into it.
// Only if: the nodes are of known operators, have no bodies and are not random, stand behind one another, and are as
//         many and as often as the options say. Runs are found by distances that are frequent, so that the search is
//         linear.
#include "passes/outline/outline_options.h"
#include "passes/outline/outliner.h"

namespace assay::passes {
namespace {

constexpr int kMostFunctions = 64;

// The best repeat that can be outlined; false if there is none.
bool outline_one(PassRun& run) {
  const NodeClasses classes(run);
  const OutlineOptions& options = run.options().get<OutlineOptions>();
  const match::RepeatLimits limits = {.least_length = options.least_nodes, .least_count = options.least_count};
  for (match::Repeat repeat : match::find_repeats(classes.classes(), limits)) {
    keep_same_wiring(run.model(), classes, repeat);
    if (repeat.starts.size() < options.least_count || repeat.starts.size() < 2) continue;
    if (outline(run, classes, repeat)) return true;
    if (run.rewriter().is_done()) return false;
  }
  return false;
}

void outline_repeats(PassRun& run) {
  for (int i = 0; i < kMostFunctions && !run.rewriter().is_done(); ++i) {
    if (!outline_one(run)) return;
  }
}

}  // namespace

Pass pass_structure_outline_repeats() {
  return {.name = "outline-repeats",
          .summary = "make a function of nodes that are repeated, and calls of it",
          .run = outline_repeats};
}

}  // namespace assay::passes
