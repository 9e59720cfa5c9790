#include "cli/edit/pass_job.h"

#include <algorithm>
#include <array>
#include <map>

#include "base/error.h"
#include "base/text.h"
#include "cli/edit/steps.h"
#include "cli/options/values.h"
#include "ir/verify.h"
#include "ops/inference.h"

namespace assay::cli {
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

  void run() {
    if (is_empty()) return;
    pipeline_.run(kSort);  // whatever else is asked for needs it
    if (request_.cleans) pipeline_.run(passes::cleanup_passes());
    if (request_.folds) fold();
    if (request_.simplifies) pipeline_.run_until_stable(passes::simplify_passes());
    if (request_.fuses) pipeline_.run_until_stable(passes::fusion_passes());
    const std::vector<std::string_view> named(request_.passes.begin(), request_.passes.end());
    if (!named.empty()) pipeline_.run(named);
    report();
    refuse_opset();
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
      job_.log().info(fmt::format("Folding Constants | Pass {}", round));
      const Log::Indent indent(job_.log());
      const uint64_t before = node_count(job_.model());
      const uint64_t steps = pipeline_.run(passes::folding_passes());
      const uint64_t after = node_count(job_.model());
      job_.log().info(fmt::format("Total Nodes | Original: {:5d}, After Folding: {:5d} | {:5d} Nodes Folded", before,
                                  after, before - after));
      if (steps == 0 || rewriter_.is_done()) return;
    }
  }

  void report() {
    if (request_.explains) explain_steps(rewriter_, job_.log());
    std::map<std::string_view, uint64_t> steps;
    for (const passes::PassResult& result : pipeline_.results()) steps[result.pass] += result.steps;
    for (const auto& [pass, count] : steps) {
      if (count > 0) job_.changed(pass, "", fmt::format("{} step(s)", count));
    }
    for (const passes::Skipped& skipped : pipeline_.skipped()) {
      const std::string node = ir::describe(job_.model(), skipped.node);
      job_.skipped(skipped.pass, node, skipped.reason);
      job_.log().verbose(fmt::format("{}: {} is left as it is: {}", skipped.pass, node, skipped.reason));
    }
  }

  const PassRequest& request_;
  EditJob& job_;
  ir::Rewriter rewriter_;
  passes::Pipeline pipeline_;
};

const std::string& pass_list() {
  static const std::string list = [] {
    std::vector<std::string> passes;
    for (const Registered<passes::Pass>& entry : passes::registered_passes()) {
      const passes::Pass pass = entry.make();
      passes.push_back(fmt::format("`{}` ({})", pass.name, pass.summary));
    }
    return fmt::format("There are {}.", join(passes, ", "));
  }();
  return list;
}

}  // namespace

OptionGroup pass_group() {
  OptionGroup group = {
      .title = "Passes",
      .description = "Which rewrites are applied, and what is said of them",
      .rows = {{.names = {"--simplify"},
                .arity = Arity::flag,
                .help = "also remove what does nothing, merge what is there twice, fold and clean up",
                .details = "Every pass of this kind keeps the results of the reference bit for bit."},
               {.names = {"--fuse"},
                .arity = Arity::flag,
                .help = "merge operators, as BatchNormalization into Conv, within their rounding"},
               {.names = {"--opset"},
                .metavar = "N",
                .help = "write the model in this version of ai.onnx, up or down, where nothing changes its meaning",
                .details = "A node that cannot be said in that version is an error (exit 3), and nothing is written."},
               {.names = {"--passes"},
                .arity = Arity::one_or_more,
                .metavar = "PASS",
                .help = "run these passes, in this order, after all others",
                .details = pass_list()},
               {.names = {"--unroll-limit"},
                .metavar = "N",
                .default_value = "32",
                .help = "of the pass unroll-loops: loops of more iterations stay"},
               {.names = {"--outline-size"},
                .metavar = "N",
                .default_value = "4",
                .help = "of the pass outline-repeats: repeated parts of fewer nodes stay"}},
  };
  for (OptionRow& row : step_rows()) group.rows.push_back(std::move(row));
  return group;
}

PassRequest pass_request(const Arguments& arguments) {
  PassRequest request;
  request.simplifies = arguments.flag("--simplify");
  request.fuses = arguments.flag("--fuse");
  request.passes = arguments.values("--passes");
  for (const std::string& pass : request.passes) static_cast<void>(passes::find_pass(pass));
  if (arguments.has("--opset")) {
    request.options.opset = static_cast<int64_t>(parse_count("--opset", arguments.value("--opset")));
    request.passes.emplace_back(kChangeOpset);
  }
  request.options.unroll.most_iterations = parse_count("--unroll-limit", arguments.value("--unroll-limit"));
  request.options.outline.least_nodes = parse_count("--outline-size", arguments.value("--outline-size"), 1);
  request.last_step = last_step(arguments);
  request.explains = arguments.flag("--explain");
  return request;
}

void run_passes(const PassRequest& request, EditJob& job) { PassJob(request, job).run(); }

}  // namespace assay::cli
