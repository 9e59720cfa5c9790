#include "lint/lint.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/stopwatch.h"
#include "tasks/check.h"
#include "tasks/threads.h"

namespace assay::tasks {
namespace {

// Some minutes at most; a model that takes longer is checked as far as that.
constexpr uint64_t kMostSteps = 1'000'000;
constexpr uint64_t kMostWork = 100'000'000'000;

// Data for the model's inputs; none where it cannot be made.
std::optional<std::vector<ops::InputDatum>> inputs_of(const ir::Model& model, const InputRequest& request,
                                                      Observer& observer) {
  Diagnostics notes;
  auto made = attempt([&] { return first_inputs(model, make_inputs(model, request, observer, notes), notes); });
  if (const Error* error = std::get_if<Error>(&made)) {
    const bool is_fatal = error->code() == ErrorCode::usage || error->code() == ErrorCode::cancelled;
    if (is_fatal || !request.is_generated()) throw *error;
    observer.warning(fmt::format("the model is not run: {}", error->line()));
    return std::nullopt;
  }
  return std::move(std::get<std::vector<ops::InputDatum>>(made));
}

}  // namespace

results::LintReport lint(const LintRequest& request, Observer& observer) {
  const TaskThreads threads(request.threads);
  LoadedModel loaded = load_model(request.model, observer);
  const Stopwatch checking;
  ops::InterpreterOptions limits;
  limits.max_memory_bytes = request.max_memory_bytes;
  limits.max_steps = request.max_steps ? request.max_steps : kMostSteps;
  limits.max_work = request.max_work ? request.max_work : kMostWork;
  const std::optional<std::vector<ops::InputDatum>> inputs =
      request.is_static ? std::nullopt : inputs_of(loaded.model, request.inputs, observer);
  if (request.is_static) tell_unused_inputs(request.inputs, observer);
  check_cancelled(observer);
  results::LintReport report = lint::lint_model(loaded.model, loaded.findings, inputs, limits);
  report.path = request.model.path;
  report.timings = {{"load_seconds", loaded.load_seconds}, {"lint_seconds", checking.seconds()}};
  return report;
}

}  // namespace assay::tasks
