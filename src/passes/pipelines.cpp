#include "passes/pipelines.h"

namespace assay::passes {
namespace {

constexpr std::string_view kCleanup[] = {"remove-dead"};
constexpr std::string_view kFolding[] = {"simplify-shapes", "fold-constants", "flatten-if", "remove-dead"};
// Without inline-functions, which makes models larger.
constexpr std::string_view kSimplify[] = {
    "simplify-shapes",
    "fold-constants",
    "flatten-if",
    "capture-states",
    "remove-no-ops",
    "merge-chains",
    "transposes-to-reshapes",
    "remove-reshapes-around",
    "merge-duplicates",
    "merge-weights",
    "remove-dead",
};
// Whole Gemms first, which then take in what follows them.
constexpr std::string_view kFusion[] = {
    "remove-zero-sums", "fuse-conv-arithmetic", "fuse-conv-bn", "fuse-bn-conv",
    "fuse-matmul-add",  "fuse-matmul-rows",     "fuse-gemm-bn", "remove-dead",
};

}  // namespace

PassNames cleanup_passes() { return kCleanup; }
PassNames folding_passes() { return kFolding; }
PassNames simplify_passes() { return kSimplify; }
PassNames fusion_passes() { return kFusion; }

void inline_functions(ir::Model& model, ir::Rewriter& rewriter) {
  static constexpr std::string_view kPasses[] = {"inline-functions"};
  const Options options;
  if (!model.functions().empty()) Pipeline(model, rewriter, options).run(kPasses);
}

std::vector<Pass> passes_named(PassNames names) {
  std::vector<Pass> passes;
  for (const std::string_view name : names) passes.push_back(find_pass(name));
  return passes;
}

uint64_t Pipeline::run(std::span<const Pass> passes) {
  uint64_t total = 0;
  for (const Pass& pass : passes) {
    if (run_.rewriter_.is_done()) break;
    run_.pass_ = pass.name;
    run_.has_inferred_ = false;
    const uint64_t before = run_.rewriter_.steps().size();
    pass.run(run_);
    const uint64_t steps = run_.rewriter_.steps().size() - before;
    results_.push_back({pass.name, steps});
    total += steps;
  }
  return total;
}

uint64_t Pipeline::run_until_stable(std::span<const Pass> passes, uint64_t most_rounds) {
  uint64_t total = 0;
  for (uint64_t round = 0; round < most_rounds; ++round) {
    const uint64_t steps = run(passes);
    if (steps == 0) break;
    total += steps;
  }
  return total;
}

}  // namespace assay::passes
