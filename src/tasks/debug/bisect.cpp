#include <bit>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "debug/subgraph.h"
#include "ir/naming.h"
#include "surgery/boundary_types.h"
#include "tasks/bisection.h"
#include "tasks/debug/check_loop.h"
#include "tasks/debug/comparing_judge.h"
#include "tasks/debug/subject.h"
#include "tasks/save.h"
#include "tasks/threads.h"

namespace assay::tasks {
namespace {

using debug::Verdict;

// The model after some steps, and what they did.
struct Rewritten {
  ir::Model model;
  std::vector<results::StepListing> steps;
};

class Bisection {
 public:
  Bisection(const BisectionRequest& request, const Subject& subject, Observer& observer)
      : request_(request),
        model_(subject.loaded.model),
        observer_(observer),
        values_(model_, subject.inputs, request.comparison.session.max_memory_bytes),
        loop_(request.check, request.comparison.backend.empty() ? request.artifact : "", observer) {
    if (request.keeps_artifact) loop_.keep_artifact();
    if (!request.comparison.backend.empty()) comparing_.emplace(request.comparison, model_, subject.inputs, &values_);
  }

  results::BisectionReport run() {
    report_.model = request_.model.path;
    report_.steps = rewritten(std::numeric_limits<uint64_t>::max()).steps;
    report_.step_count = report_.steps.size();
    if (report_.step_count == 0) fail(ErrorCode::usage, "nothing is changed: there is no step to find");
    report_.fails_before = surely_fails(0);
    report_.is_reproduced = !report_.fails_before && surely_fails(report_.step_count);
    if (report_.is_reproduced) search();
    report_.loop = loop_.take();
    if (comparing_ && !comparing_->symptom().empty()) observer_.info("The first that fails: " + comparing_->symptom());
    return std::move(report_);
  }

 private:
  void search() {
    uint64_t good = 0, bad = report_.step_count;
    while (bad - good > 1) {
      const uint64_t middle = good + (bad - good) / 2;
      (fails(middle, std::bit_width(bad - good)) ? bad : good) = middle;
    }
    report_.step = bad;
    report_.explanation = report_.steps[bad - 1].explanation;
    save(bad, request_.output, report_.output);
    save(good, request_.least_good, report_.good_output);
    if (!request_.reduced.empty()) reduce(after(bad));
  }

  // Parts of the changed model are fed the values of the model as it was.
  void reduce(ir::Model changed) {
    LoadedModel loaded;
    loaded.model = std::move(changed);
    infer_shapes(loaded);
    const ir::Model& model = loaded.model;
    const debug::Parts parts(model);
    const auto judge_all = [&](std::span<const debug::Subset> subsets, uint64_t remaining) {
      std::vector<Verdict> verdicts;
      for (const debug::Subset& subset : subsets)
        verdicts.push_back(judge_part(parts, closed(parts, subset), remaining));
      return verdicts;
    };
    const debug::Subset found = closed(parts, debug::minimize(parts.count(), judge_all, {}));
    for (const uint32_t part : found) {
      const ir::NodeId node = parts.node(part);
      report_.nodes.push_back({std::string(ir::known_name(model, node)), std::string(model.text(model[node].op))});
    }
    ir::Model reduced = cut(parts, found);
    save_model(reduced, request_.reduced, request_.save, observer_);
    report_.reduced = request_.reduced;
  }

  // The subset whose outputs can be compared: the model's outputs are right before the step, other values may be off in
  // all steps.
  debug::Subset closed(const debug::Parts& parts, const debug::Subset& subset) const {
    return comparing_ ? parts.with_users(subset) : subset;
  }

  Verdict judge_part(const debug::Parts& parts, const debug::Subset& subset, uint64_t remaining) {
    Trial trial{.subject = fmt::format("{} of {} nodes", subset.size(), parts.count()),
                .identity = fmt::format("{} nodes {}", command_identity(request_.check), fmt::join(subset, ","))};
    if (comparing_)
      trial.passes = [&] { return !comparing_->fails(cut(parts, subset)); };
    else
      trial.make = [&](const std::string& path) { onnx::save(cut(parts, subset), path, request_.save); };
    return loop_.judge(trial, remaining);
  }

  ir::Model cut(const debug::Parts& parts, const debug::Subset& subset) {
    debug::SubgraphOptions options;
    options.rule = comparing_ ? debug::CutRule::inputs : debug::CutRule::branches;
    options.value_of = [&](ir::ValueId value) { return values_.find(parts.model().text(parts.model()[value].name)); };
    ir::Model part = debug::subgraph(parts, subset, options);
    surgery::complete_outputs(part);
    return part;
  }

  bool fails(uint64_t steps, uint64_t remaining) { return judge(steps, remaining) == Verdict::fails; }

  // The ends must have a verdict.
  bool surely_fails(uint64_t steps) {
    const Verdict verdict = judge(steps);
    if (verdict != Verdict::unresolved) return verdict == Verdict::fails;
    fail(ErrorCode::unsupported, "the model after {} of {} steps cannot be judged: {}", steps, report_.step_count,
         loop_.take().iterations.back().fault);
  }

  Verdict judge(uint64_t steps, std::optional<uint64_t> remaining = std::nullopt) {
    Trial trial{.subject = fmt::format("{} of {} steps", steps, report_.step_count),
                .identity = fmt::format("{} {} {}", command_identity(request_.check), report_.step_count, steps)};
    if (comparing_)
      trial.passes = [&] { return !comparing_->fails(after(steps)); };
    else
      trial.make = [&](const std::string& path) { onnx::save(after(steps), path, request_.save); };
    return loop_.judge(trial, remaining);
  }

  ir::Model after(uint64_t steps) {
    ir::Model model = rewritten(steps).model;
    surgery::complete_outputs(model);
    return model;
  }

  Rewritten rewritten(uint64_t steps) const {
    Observer quiet;
    const ModelSource source{.path = request_.model.path, .model = &model_};
    if (const auto* conversion = std::get_if<ConvertRequest>(&request_.steps)) {
      ConvertRequest wanted = *conversion;
      wanted.edit.model = source;
      wanted.last_step = steps;
      wanted.explains = true;
      wanted.inputs = request_.inputs;
      ConvertOutcome outcome = convert(wanted, quiet);
      return {std::move(outcome.model), std::move(outcome.report.steps)};
    }
    SanitizeRequest wanted{.edit = {.model = source}, .passes = std::get<PassRequest>(request_.steps)};
    wanted.passes.last_step = steps;
    wanted.passes.explains = true;
    EditOutcome outcome = sanitize(wanted, quiet);
    return {std::move(outcome.model), std::move(outcome.report.steps)};
  }

  void save(uint64_t steps, const std::string& path, std::string& saved) {
    if (path.empty()) return;
    ir::Model model = after(steps);
    save_model(model, path, request_.save, observer_);
    saved = path;
  }

  const BisectionRequest& request_;
  const ir::Model& model_;
  Observer& observer_;
  ObservedValues values_;
  CheckLoop loop_;
  std::optional<ComparingJudge> comparing_;
  results::BisectionReport report_;
};

}  // namespace

results::BisectionReport debug_bisect(const BisectionRequest& request, Observer& observer) {
  const Stopwatch total;
  const TaskThreads threads(request.comparison.session.threads);
  const Subject subject = open_subject(request.model, request.inputs, observer);
  results::BisectionReport report = Bisection(request, subject, observer).run();
  report.timings = {{"load_seconds", subject.loaded.load_seconds}, {"total_seconds", total.seconds()}};
  return report;
}

}  // namespace assay::tasks
