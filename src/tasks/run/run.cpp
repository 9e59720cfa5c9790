#include "tasks/run.h"

#include <fmt/format.h>

#include "analysis/value_sizes.h"
#include "base/error.h"
#include "base/text.h"
#include "compare/runs/averages.h"
#include "compare/runs/unused_settings.h"
#include "compare/runs/verdict.h"
#include "ir/queries.h"
#include "tasks/generation/generate.h"
#include "tasks/run/pictures.h"
#include "tasks/run/sides.h"
#include "tasks/run/tolerances.h"
#include "tasks/run/watcher.h"
#include "tasks/threads.h"

namespace assay::tasks {
namespace {

constexpr uint64_t kHeldShare = 4;  // of the memory limit: two sides of a group, and what a backend needs for it

// A threshold for an output that nobody has would be lost without a word. Scripts may make outputs of their own.
void check_output_names(const RunRequest& request, const Sides& sides) {
  const std::set<std::string, std::less<>>& known = sides.outputs;
  if (!request.scripts.is_empty() || request.inputs.script || known.empty()) return;
  const std::vector<std::string> names(known.begin(), known.end());
  for (const auto& [setting, name] : compare::named_outputs(request.compare)) {
    const std::string whole = name.substr(0, name.find_first_of("[.", 1));  // of an item of a sequence, say
    const bool is_pattern = name.find_first_of("*?") != std::string::npos;
    if (is_pattern || known.contains(name) || known.contains(whole)) continue;
    const std::optional<std::string> near = did_you_mean(name, names);
    throw Error(ErrorCode::usage, fmt::format("no output is called `{}`{}", printable(name),
                                              near ? fmt::format("; did you mean `{}`?", printable(*near)) : ""))
        .about(std::string(setting));
  }
}

// Faults of the inputs are said before a backend starts.
void check_inputs(const RunRequest& request, const RunSubject& subject, exec::DataSource& inputs) {
  const std::optional<tensor::NamedData> first = inputs.get(0);
  if (!first && request.may_judge_nothing) return;
  if (!first) fail(ErrorCode::unsupported, "the data loader gave no inputs: nothing is run");
  Diagnostics told_by_runners;
  if (!subject.is_plan) exec::check_feeds(exec::signature_of(subject.loaded->model), *first, told_by_runners);
}

// No source where nothing is live.
InputData open_inputs(const RunRequest& request, RunSubject& subject, Observer& observer,
                      const std::shared_ptr<remote::PythonHost>& host) {
  if (!subject.loaded) return {};
  InputData inputs = make_inputs(subject.loaded->model, subject.inputs, observer, subject.findings(), host);
  check_inputs(request, subject, *inputs.source);
  return inputs;
}

// The settings of the request, with what the subject knows about outputs.
compare::CompareOptions comparison(const RunRequest& request, const Taps& taps, Pictures& pictures) {
  compare::CompareOptions options = request.compare;
  const bool wants_all = request.measures_all;
  options.is_essential = [&taps, is_lenient = request.leaves_out_unpaired](std::string_view name) {
    return !is_lenient && taps.is_essential(name);
  };
  options.histograms_of_passed = wants_all;
  options.wants_percentiles = [&taps, wants_all](std::string_view name) {
    return wants_all || taps.is_essential(name);
  };
  if (!pictures.is_wanted()) return options;
  options.on_measured = [&pictures](const compare::ComparedAt& at, const tensor::Tensor& a, const tensor::Tensor& b,
                                    results::OutputComparison& output) { pictures.draw(at, a, b, output); };
  return options;
}

// Under a memory limit, values are computed in groups: both sides of a group are held at a time.
exec::TapPlan plan_taps(const RunSubject& subject, exec::DataSource& inputs) {
  const uint64_t budget = subject.session.max_memory_bytes / kHeldShare;
  std::map<std::string, uint64_t> sizes;
  if (budget == 0) return subject.taps.plan(sizes, budget);
  try {
    sizes = analysis::value_sizes(subject.loaded->model, *inputs.get(0));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::shape) throw;  // each backend says so by itself
  }
  return subject.taps.plan(sizes, budget);
}

exec::DrivePlan drive_plan(const RunRequest& request, const RunSubject& subject, exec::DataSource* inputs) {
  const bool has_one_iteration = inputs != nullptr && inputs->count() == std::optional<uint64_t>(1);
  exec::DrivePlan plan;
  plan.warm_up = request.warm_up;
  plan.jobs = request.jobs;
  plan.taps = subject.loaded ? plan_taps(subject, *inputs) : exec::TapPlan(1);
  plan.is_sequential = request.is_sequential || (has_one_iteration && plan.taps.size() == 1 && plan.jobs == 1);
  return plan;
}

void run_sides(const RunRequest& request, Sides& sides, exec::DataSource* inputs, RunWatcher& watcher) {
  watcher.tell_findings();
  watcher.expect_iterations(inputs);
  exec::drive(sides.runners, inputs, drive_plan(request, *sides.subject, inputs), watcher, sides.subject->findings());
}

// For the page.
void note_operators(const ir::Model& model, results::RunReport& report) {
  for (const ir::NodeId node : ir::nodes(model, model.main_graph())) {
    for (const ir::ValueId result : model[node].results) {
      if (result) report.operators.emplace(model.text(model[result].name), model.text(model[node].op));
    }
  }
}

// A file that could not be saved must not lose the comparison.
RunOutcome judge(const RunRequest& request, RunSubject& subject, const Pictures& pictures, RunWatcher& watcher) {
  RunOutcome outcome;
  const std::variant<std::monostate, Error> saved = attempt([&] {
    watcher.save();
    return std::monostate();
  });
  if (const Error* error = std::get_if<Error>(&saved)) outcome.save_failure = *error;
  outcome.report = watcher.take(outcome.outputs);
  if (!outcome.save_failure) outcome.save_failure = pictures.failure();
  results::RunReport& report = outcome.report;
  report.model = request.model.path;
  report.findings = subject.findings().all();
  report.timings = {{"load_seconds", subject.loaded ? subject.loaded->load_seconds : 0},
                    {"compare_seconds", report.compare_seconds}};
  outcome.unused_names = compare::unused_settings(report, request.compare);
  const std::vector<std::string>& names = subject.taps.names;
  if (names.size() <= 1) return outcome;
  for (results::PairComparison& pair : report.pairs) pair.first_failed = compare::first_failed(pair, names);
  if (request.makes_page) note_operators(subject.loaded->model, report);
  return outcome;
}

}  // namespace

void check_run(const RunRequest& request) {
  if (request.check_average) compare::check_averages(request.compare);
  if (request.backends.empty()) return;
  const uint64_t iterations = request.inputs.iterations;
  const uint64_t results = request.generation ? request.generation->steps : iterations;
  if (!request.save_inputs.empty()) formats::check_room(request.save_inputs, 1, iterations);
  if (!request.save_outputs.empty()) formats::check_room(request.save_outputs, request.backends.size(), results);
}

RunOutcome run(RunRequest request, Observer& observer) {
  const TaskThreads threads(request.session.threads);
  check_run(request);
  if (request.generation) return generate(request, observer);
  const auto subject = std::make_shared<RunSubject>(open_subject(request, observer));
  const auto sides = std::make_shared<Sides>(open_sides(request, subject, observer));
  check_output_names(request, *sides);
  Pictures pictures(request, sides->runners, observer);
  request.compare = comparison(request, subject->taps, pictures);
  std::shared_ptr<remote::PythonHost> host;
  if (!request.scripts.is_empty() || (subject->loaded && request.inputs.script))
    host = make_python_host(request.session.search, request.timeout_seconds, observer);
  InputData inputs = open_inputs(request, *subject, observer, host);
  std::optional<Tolerances> tolerances;
  if (request.computes_tolerance && !inputs.source) {
    fail(ErrorCode::usage, "tolerances can only be computed from the model that the outputs come from");
  }
  if (request.computes_tolerance) {
    tolerances.emplace(request, *subject, *inputs.source, observer);
    request.compare.allowance = [&tolerances](const compare::ComparedAt& at, std::string_view name_a,
                                              std::string_view name_b,
                                              bool is_final) { return tolerances->find(at, name_a, name_b, is_final); };
  }
  RunWatcher watcher(request, sides->runners, subject->findings(), observer, host.get());
  watcher.set_on_left_out([&pictures](const std::string& runner) { pictures.leave_out(runner); });
  run_sides(request, *sides, inputs.source.get(), watcher);
  RunOutcome outcome = judge(request, *subject, pictures, watcher);
  inputs.host.reset();
  host.reset();
  watcher.tell_findings();
  outcome.sessions = sides;
  return outcome;
}

}  // namespace assay::tasks
