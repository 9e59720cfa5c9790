#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "passes/pass.h"

namespace assay::passes {

using PassNames = std::span<const std::string_view>;

// The named sequences. Order matters, and stands in pipelines.cpp.
PassNames cleanup_passes();   // remove things that nothing needs
PassNames folding_passes();   // compute what can be computed now
PassNames simplify_passes();  // all exact passes that make a model smaller
PassNames fusion_passes();    // merge operators, within their rounding

// The registered passes of these names. Error (usage) for a name that none has.
std::vector<Pass> passes_named(PassNames names);

// Calls of a model's functions hide what is computed: their nodes take the place of the calls, in every copy of a model
// under the same names.
void inline_functions(ir::Model& model, ir::Rewriter& rewriter);

struct PassResult {
  std::string_view pass;
  uint64_t steps = 0;
};

// Runs passes, registered or not, over one model and keeps account of what they did.
class Pipeline {
 public:
  // The model must be free of cycles and in order; `sort` is the one pass that makes it so.
  Pipeline(ir::Model& model, ir::Rewriter& rewriter, const Options& options) : run_(model, rewriter, options) {}

  // Each pass once, in this order; stops when the rewriter is done. Gives the number of steps taken.
  uint64_t run(std::span<const Pass> passes);
  uint64_t run(PassNames names) { return run(passes_named(names)); }
  // The sequence again and again, until it changes nothing; at most `most_rounds` times.
  uint64_t run_until_stable(std::span<const Pass> passes, uint64_t most_rounds = 100);
  uint64_t run_until_stable(PassNames names, uint64_t most_rounds = 100) {
    return run_until_stable(passes_named(names), most_rounds);
  }

  const std::vector<PassResult>& results() const { return results_; }
  const std::vector<Skipped>& skipped() const { return run_.skipped(); }

 private:
  PassRun run_;
  std::vector<PassResult> results_;
};

}  // namespace assay::passes
