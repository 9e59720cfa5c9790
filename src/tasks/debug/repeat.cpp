#include <set>

#include "base/error.h"
#include "exec/backend.h"
#include "tasks/debug/check_loop.h"
#include "tasks/threads.h"

namespace assay::tasks {
namespace {

// So many iterations in a row that cannot be checked, with nothing that says when to end, will go on for ever.
constexpr uint64_t kMostFaults = 10;

// Judges one trial until the request is met. The error of the trial where it is never made.
void loop_until(const Until& until, const Trial& trial, CheckLoop& loop) {
  const bool counts = until.kind == UntilKind::count;
  uint64_t faults = 0;
  for (uint64_t i = 1;; ++i) {
    const std::optional<uint64_t> remaining =
        counts ? std::optional(until.count - std::min(i, until.count)) : std::nullopt;
    const debug::Verdict verdict = loop.judge(trial, remaining);
    const bool passed = verdict == debug::Verdict::passes;
    if (counts ? i >= until.count : passed == (until.kind == UntilKind::good)) return;
    faults = verdict == debug::Verdict::unresolved ? faults + 1 : 0;
    if (!counts && faults == kMostFaults) {
      with_frame([] { return fmt::format("{} iterations in a row cannot be checked", kMostFaults); },
                 [&] { throw Error(loop.last_fault()); });
    }
  }
}

// Builds plans. Each build is a new one: it knows nothing of those before it, but what was said once is not repeated.
class Builder {
 public:
  Builder(const BuildRequest& request, const ir::Model& model, Observer& observer)
      : request_(request), model_(model), observer_(observer) {}

  void build(const std::string& plan) {
    exec::SessionOptions session = request_.session;
    session.path = request_.infers || !request_.interface.is_empty() ? "" : runnable_path(request_.model);
    Diagnostics findings;
    exec::plan_builder()->build_plan(model_, session, plan, findings);
    Diagnostics unsaid;
    for (const Diagnostic& finding : findings.all()) {
      if (said_.insert(finding.message).second) unsaid.add(finding);
    }
    tell_findings(unsaid, observer_);
  }

 private:
  const BuildRequest& request_;
  const ir::Model& model_;
  Observer& observer_;
  std::set<std::string> said_;
};

void warn_of_missing_artifacts(const CheckRequest& check, Observer& observer) {
  if (check.artifacts.empty()) observer.warning("no artifacts are named, so that nothing is kept of the iterations");
}

}  // namespace

results::DebugReport debug_repeat(const RepeatRequest& request, Observer& observer) {
  const Stopwatch total;
  warn_of_missing_artifacts(request.check, observer);
  CheckLoop loop(request.check, "", observer);
  loop_until(request.until, Trial{.identity = command_identity(request.check)}, loop);
  return {.command = "debug repeat", .loop = loop.take(), .timings = {{"total_seconds", total.seconds()}}};
}

results::DebugReport debug_build(const BuildRequest& request, Observer& observer) {
  const Stopwatch total;
  const TaskThreads threads(request.session.threads);
  warn_of_missing_artifacts(request.check, observer);
  CheckLoop loop(request.check, request.artifact, observer);
  loop.count_faults_as_failures();
  if (request.keeps_artifact) loop.keep_artifact();
  LoadedModel loaded = load_model(request.model, observer);
  require_runnable(loaded);
  if (request.infers) infer_shapes(loaded);
  set_interface(request.interface, loaded);
  tell_findings(loaded.findings, observer);
  Builder builder(request, loaded.model, observer);
  const auto make = [&](const std::string& path) { builder.build(path); };
  loop_until(request.until, Trial{.make = make}, loop);
  return {.command = "debug build",
          .model = request.model.path,
          .loop = loop.take(),
          .timings = {{"load_seconds", loaded.load_seconds}, {"total_seconds", total.seconds()}}};
}

}  // namespace assay::tasks
