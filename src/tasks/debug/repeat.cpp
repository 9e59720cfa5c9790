#include "exec/backend.h"
#include "tasks/debug/check_loop.h"
#include "tasks/threads.h"

namespace assay::tasks {
namespace {

// Judges one trial until the request is met.
void loop_until(const Until& until, const Trial& trial, CheckLoop& loop) {
  const bool counts = until.kind == UntilKind::count;
  for (uint64_t i = 1;; ++i) {
    const std::optional<uint64_t> remaining =
        counts ? std::optional(until.count - std::min(i, until.count)) : std::nullopt;
    const bool passed = loop.judge(trial, remaining) == debug::Verdict::passes;
    if (counts ? i >= until.count : passed == (until.kind == UntilKind::good)) return;
  }
}

// Builds one plan. Each build is a new one: it knows nothing of those before it.
void build(const BuildRequest& request, const ir::Model& model, const std::string& plan, Observer& observer) {
  exec::SessionOptions session = request.session;
  session.path = request.infers ? "" : runnable_path(request.model);
  Diagnostics findings;
  exec::make_backend("engine")->build_plan(model, session, plan, findings);
  tell_findings(findings, observer);
}

void warn_of_missing_artifacts(const CheckRequest& check, Observer& observer) {
  if (check.artifacts.empty()) observer.warning("no artifacts are named, so that nothing is kept of the iterations");
}

}  // namespace

results::DebugReport debug_repeat(const RepeatRequest& request, Observer& observer) {
  const Stopwatch total;
  warn_of_missing_artifacts(request.check, observer);
  CheckLoop loop(request.check, "", observer);
  loop_until(request.until, Trial{.identity = command_identity(request.check)}, loop);
  return {.command = "repeat", .loop = loop.take(), .timings = {{"total_seconds", total.seconds()}}};
}

results::DebugReport debug_build(const BuildRequest& request, Observer& observer) {
  const Stopwatch total;
  const TaskThreads threads(request.session.threads);
  warn_of_missing_artifacts(request.check, observer);
  CheckLoop loop(request.check, request.artifact, observer);
  if (request.keeps_artifact) loop.keep_artifact();
  LoadedModel loaded = load_model(request.model, observer);
  require_runnable(loaded);
  if (request.infers) infer_shapes(loaded);
  tell_findings(loaded.findings, observer);
  const auto make = [&](const std::string& path) { build(request, loaded.model, path, observer); };
  loop_until(request.until, Trial{.make = make}, loop);
  return {.command = "build",
          .model = request.model.path,
          .loop = loop.take(),
          .timings = {{"load_seconds", loaded.load_seconds}, {"total_seconds", total.seconds()}}};
}

}  // namespace assay::tasks
