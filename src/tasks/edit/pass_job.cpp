#include "tasks/edit/pass_job.h"

#include <algorithm>
#include <array>
#include <map>

#include "base/error.h"
#include "base/text.h"
#include "ir/verify.h"
#include "passes/pipelines.h"
#include "tasks/edit/steps.h"

namespace assay::tasks {
namespace {

constexpr std::array<std::string_view, 1> kSort = {"sort"};
constexpr std::string_view kChangeOpset = "change-opset";
constexpr size_t kMostReasons = 5;

uint64_t node_count(const ir::Model& model) {
  uint64_t count = 0;
  for (uint32_t i = 0; i < model.graph_slots(); ++i) {
    const ir::Graph& graph = model[ir::GraphId{i}];
    if (model[graph.outputs_node].alive) count += graph.node_count;
  }
  return count;
}

class PassJob {
 public:
  PassJob(const PassRequest& request, EditJob& job)
      : request_(request),
        job_(job),
        rewriter_(job.model(), request.last_step),
        pipeline_(job.model(), rewriter_, request.options) {}

  // Returns all steps if the request wants them.
  std::vector<results::StepListing> run() {
    if (is_empty()) return {};
    pipeline_.run(kSort);  // whatever else is asked for needs it
    if (request_.cleans) pipeline_.run(passes::cleanup_passes());
    if (request_.folds) fold();
    if (request_.simplifies) pipeline_.run_until_stable(passes::simplify_passes());
    if (request_.fuses) pipeline_.run_until_stable(passes::fusion_passes());
    const std::vector<std::string_view> named(request_.passes.begin(), request_.passes.end());
    if (!named.empty()) pipeline_.run(named);
    std::vector<results::StepListing> steps;
    if (request_.explains) steps = explain_steps(rewriter_, job_.observer());
    report();
    refuse_opset();
    return steps;
  }

 private:
  bool is_empty() const {
    return !request_.cleans && !request_.sorts && !request_.folds && !request_.simplifies && !request_.fuses &&
           request_.passes.empty();
  }

  // A model is in the version that was asked for, or there is none.
  void refuse_opset() const {
    std::vector<std::string> reasons;
    for (const passes::Skipped& skipped : pipeline_.skipped()) {
      if (skipped.pass != kChangeOpset) continue;
      reasons.push_back(fmt::format("{}: {}", ir::describe(job_.model(), skipped.node), skipped.reason));
    }
    if (reasons.empty()) return;
    const size_t more = reasons.size() - std::min<size_t>(reasons.size(), kMostReasons);
    reasons.resize(reasons.size() - more);
    fail(ErrorCode::unsupported, "the model cannot be written in that version of ai.onnx: {}{}", join(reasons, "; "),
         more > 0 ? fmt::format("; and {} more", more) : "");
  }

  void fold() {
    for (uint64_t round = 1; round <= request_.most_fold_rounds; ++round) {
      job_.observer().info(fmt::format("Folding Constants | Pass {}", round));
      const uint64_t before = node_count(job_.model());
      const uint64_t steps = pipeline_.run(passes::folding_passes());
      const uint64_t after = node_count(job_.model());
      job_.observer().info(fmt::format("    Total Nodes | Original: {:5d}, After Folding: {:5d} | {:5d} Nodes Folded",
                                       before, after, before - after));
      check_cancelled(job_.observer());
      if (steps == 0 || rewriter_.is_done()) return;
    }
  }

  void report() {
    std::map<std::string_view, uint64_t> steps;
    for (const passes::PassResult& result : pipeline_.results()) steps[result.pass] += result.steps;
    for (const auto& [pass, count] : steps) {
      if (count > 0) job_.changed(pass, "", fmt::format("{} step(s)", count));
    }
    for (const passes::Skipped& skipped : pipeline_.skipped()) {
      const std::string node = ir::describe(job_.model(), skipped.node);
      job_.skipped(skipped.pass, node, skipped.reason);
      job_.observer().verbose(fmt::format("{}: {} is left unchanged: {}", skipped.pass, node, skipped.reason));
    }
  }

  const PassRequest& request_;
  EditJob& job_;
  ir::Rewriter rewriter_;
  passes::Pipeline pipeline_;
};

}  // namespace

std::vector<NamedPass> known_passes() {
  std::vector<NamedPass> known;
  for (const Registered<passes::Pass>& entry : passes::registered_passes()) {
    const passes::Pass pass = entry.make();
    if (pass.needs.empty()) known.push_back({std::string(pass.name), std::string(pass.summary)});
  }
  return known;
}

void set_opset(int64_t version, PassRequest& request) {
  request.options.of<passes::OpsetOptions>().version = version;
  request.passes.emplace_back(kChangeOpset);
}

void check_passes(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const passes::Pass pass = passes::find_pass(name);
    if (pass.needs.empty()) continue;
    fail(ErrorCode::unsupported, "the pass `{}` cannot run by itself: it needs {}", name, pass.needs);
  }
}

std::vector<results::StepListing> run_passes(const PassRequest& request, EditJob& job) {
  return PassJob(request, job).run();
}

}  // namespace assay::tasks
