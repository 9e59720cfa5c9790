#include "tasks/debug/runtimes.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/stopwatch.h"
#include "tasks/run.h"

namespace assay::tasks {
namespace {

RunRequest run_of(const RuntimeSearchRequest& request, const std::string& environment) {
  const ComparisonRequest& comparison = request.comparison;
  RunRequest run;
  run.model = request.model;
  run.backends = {fmt::format("{}@{}", comparison.backend, environment)};
  if (comparison.saved_outputs.empty()) run.backends.push_back(comparison.against);
  run.saved_outputs = comparison.saved_outputs;
  run.session = comparison.session;
  run.inputs = request.inputs;
  run.compare = comparison.compare;
  run.computes_tolerance = comparison.computes_tolerance;
  return run;
}

// A release that refuses the model, or dies of it, is a bad one.
results::TriedRuntime try_runtime(const RuntimeSearchRequest& request, const std::string& environment,
                                  Observer& observer) {
  const results::RunReport report = run(run_of(request, environment), observer).report;
  results::TriedRuntime tried{.environment = environment, .is_good = report.verdict == results::Verdict::equal};
  if (tried.is_good) return tried;
  tried.reason = report.runs.front().failure;
  if (!tried.reason.empty()) return tried;
  if (report.verdict == results::Verdict::undecided) {
    fail(ErrorCode::unsupported, "nothing can be said of `{}`: what it is compared with failed", environment);
  }
  tried.reason = "it differs";
  return tried;
}

}  // namespace

results::RuntimeReport debug_runtimes(const RuntimeSearchRequest& request, Observer& observer) {
  const Stopwatch total;
  results::RuntimeReport report{.model = request.model.path, .backend = request.comparison.backend};
  const auto is_good = [&](size_t number) {
    report.tried.push_back(try_runtime(request, request.environments[number], observer));
    return report.tried.back().is_good;
  };
  size_t bad = request.environments.size() - 1;
  size_t good = 0;
  report.fails_before = !is_good(good);
  report.is_reproduced = report.fails_before || !is_good(bad);
  while (!report.fails_before && report.is_reproduced && bad - good > 1) {
    const size_t middle = good + (bad - good) / 2;
    (is_good(middle) ? good : bad) = middle;
  }
  if (!report.fails_before && report.is_reproduced) {
    report.first_bad = request.environments[bad];
    report.last_good = request.environments[good];
  }
  report.timings = {{"total_seconds", total.seconds()}};
  return report;
}

}  // namespace assay::tasks
