#include "tasks/run/watcher.h"

#include <algorithm>

#include <fmt/ranges.h>

#include "base/error.h"
#include "base/text.h"
#include "compare/runs/averages.h"
#include "compare/runs/verdict.h"
#include "compare/statistics.h"
#include "compare/validate.h"
#include "formats/input_blob.h"
#include "tasks/run/describe.h"

namespace assay::tasks {
namespace {

// A failure of running inputs, with the shapes that were made up for them.
Error with_made_up_shapes(const Error& error, const std::vector<results::RunValue>& inputs,
                          const Diagnostics& findings) {
  constexpr size_t kMostNamed = 4;
  std::vector<std::string> made_up;
  for (const results::RunValue& input : inputs) {
    const std::string name = printable(input.name);
    const auto is_about = [&](const Diagnostic& finding) {
      return finding.code == exec::kMadeUpShape && finding.node == name;
    };
    if (std::ranges::any_of(findings.all(), is_about))
      made_up.push_back(fmt::format("`{}` [{}]", name, fmt::join(input.shape, ",")));
  }
  if (made_up.empty() || !error.remedy().empty()) return error;
  if (made_up.size() > kMostNamed) {
    made_up.resize(kMostNamed);
    made_up.emplace_back("...");
  }
  return Error(error.code(), fmt::format("{}; with made-up shapes: {}", error.line(), join(made_up, ", ")))
      .about(error.setting())
      .remedied_by("input_shapes");
}

}  // namespace

RunWatcher::RunWatcher(const RunRequest& request, std::span<const exec::RunnerPtr> runners, const Diagnostics& findings,
                       Observer& observer, remote::PythonHost* host)
    : request_(request),
      runners_(runners),
      findings_(findings),
      observer_(observer),
      counter_(observer, "iterations"),
      comparer_(runners.size(), request.compare),
      host_(host),
      whole_(runners.size()),
      loading_(runners.size()) {
  if (request.scripts.compare) {
    script_comparer_.emplace(*host, *request.scripts.compare, runners.size(), request.compare.fail_fast);
  }
  for (const exec::RunnerPtr& runner : runners) {
    compared_.push_back(compared_.size());
    report_.runs.push_back({.runner = runner->name(), .is_live = runner->is_live()});
    const bool is_kept = request.keeps_outputs || !request.save_outputs.empty();
    if (is_kept && runner->is_live()) outputs_.push_back({runner->name(), {}});
  }
}

void RunWatcher::expect_iterations(const exec::DataSource* source) {
  uint64_t total = 0;
  for (const exec::RunnerPtr& runner : runners_) {
    const uint64_t steps = counted_steps(runner->is_live() ? source->count() : runner->iterations(), 1);
    if (steps == 0) return;
    total += steps;
  }
  counter_.expect(total);
}

void RunWatcher::on_opening(size_t runner) {
  loading_[runner] = Stopwatch();
  observer_.on_runner_opening(report_.runs[runner]);
}

void RunWatcher::on_opened(size_t runner) {
  report_.runs[runner].load_seconds = loading_[runner].seconds();
  for (exec::AssignedNode& node : runners_[runner]->assignment()) {
    report_.runs[runner].assignment.push_back({std::move(node.provider), std::move(node.node), std::move(node.op)});
  }
  observer_.on_runner_opened(report_.runs[runner], runners_[runner]->description());
  tell_findings();
}

void RunWatcher::on_answer(size_t runner, const std::string& value, const exec::TapAnswer& answer) {
  const bool is_absent = answer.kind == exec::TapAnswer::Kind::absent;
  report_.runs[runner].answers.push_back({value, is_absent, answer.layer, answer.reason});
}

void RunWatcher::tell_findings() {
  const std::vector<Diagnostic>& all = findings_.all();
  for (; told_findings_ < all.size(); ++told_findings_) {
    const Diagnostic& finding = all[told_findings_];
    if (told_messages_.insert(finding.message).second) observer_.on_finding(finding);  // several backends may agree
  }
}

void RunWatcher::on_feeds(size_t runner, uint64_t iteration, const tensor::NamedData& feeds) {
  const bool is_kept = !request_.save_inputs.empty() && inputs_.size() == iteration;
  if (is_kept) inputs_.push_back(feeds);
  if (request_.save_blobs && runner == 0) formats::save_input_blob(*request_.save_blobs, iteration, feeds);
  results::RunnerRun& run = report_.runs[runner];
  if (iteration == 0) {
    for (const exec::Feed& feed : feeds) run.inputs.push_back(describe(feed.name, feed.value));
  }
  observer_.on_inputs(run, iteration, feeds);
}

void RunWatcher::on_value(size_t runner, uint64_t iteration, std::string_view name, const tensor::Datum& value) {
  if (iteration == 0) record(runner, name, value);
  observer_.on_value(report_.runs[runner], iteration, name, value);
  if (runner < outputs_.size()) {
    std::vector<formats::SavedIteration>& saved = outputs_[runner].iterations;
    if (saved.size() == iteration) saved.push_back({.runner = outputs_[runner].runner});
    saved.back().outputs.push_back({std::string(name), value});
  }
  const tensor::Datum processed = compare::post_process(name, value, request_.post_processing);
  const bool is_whole = request_.scripts.postprocess || request_.scripts.compare;
  if (is_whole)
    whole_[runner].push_back({std::string(name), processed});
  else
    judge(runner, iteration, name, processed);
}

void RunWatcher::judge(size_t runner, uint64_t iteration, std::string_view name, const tensor::Datum& value) {
  if (request_.validate) validate(runner, iteration, name, value);
  if (script_comparer_) return;
  const Stopwatch comparing;
  comparer_.accept(place_of(runner), iteration, name, value);
  report_.compare_seconds += comparing.seconds();
}

void RunWatcher::judge_whole(size_t runner, uint64_t iteration, double seconds) {
  remote::IterationResult result{runners_[runner]->name(), seconds, std::move(whole_[runner])};
  whole_[runner].clear();
  if (request_.scripts.postprocess) result.outputs = host_->postprocess(*request_.scripts.postprocess, result);
  for (const tensor::NamedDatum& output : result.outputs) judge(runner, iteration, output.name, output.value);
  if (!script_comparer_) return;
  const Stopwatch comparing;
  script_comparer_->accept(place_of(runner), iteration, result);
  report_.compare_seconds += comparing.seconds();
}

void RunWatcher::record(size_t runner, std::string_view name, const tensor::Datum& value) {
  results::RunValue described = describe(name, value);
  const bool is_shown =
      runners_.size() == 1 && request_.compare.wants_percentiles && request_.compare.wants_percentiles(name);
  if (is_shown && has_statistics(value)) described.stats = compare::statistics(value.tensor());
  report_.runs[runner].outputs.push_back(std::move(described));
}

void RunWatcher::validate(size_t runner, uint64_t iteration, std::string_view name, const tensor::Datum& value) {
  tensor::NamedData parts;
  compare::flatten(name, value, parts);
  for (const tensor::NamedDatum& part : parts) {
    if (!has_statistics(part.value)) continue;
    const Stopwatch validating;
    const compare::Validity validity = compare::validate(part.value.tensor());
    report_.validated.push_back({.runner = runners_[runner]->name(),
                                 .iteration = iteration,
                                 .name = part.name,
                                 .stats = compare::statistics(part.value.tensor()),
                                 .nan_count = validity.nan_count,
                                 .inf_count = validity.inf_count,
                                 .first_nan_at = validity.first_nan_at,
                                 .first_inf_at = validity.first_inf_at});
    report_.validated.back().seconds = validating.seconds();
  }
}

void RunWatcher::on_iteration(size_t runner, uint64_t iteration, std::optional<double> seconds) {
  results::RunnerRun& run = report_.runs[runner];
  ++run.iterations;
  const double taken = seconds.value_or(0);
  run.run_seconds += taken;
  if (runner < outputs_.size() && outputs_[runner].iterations.size() > iteration) {
    outputs_[runner].iterations.back().runtime_seconds = taken;
  }
  if (host_ != nullptr) judge_whole(runner, iteration, taken);
  comparer_.finish_iteration(place_of(runner), iteration);
  counter_.advance();
}

void RunWatcher::on_finished(size_t runner) { observer_.on_runner_finished(report_.runs[runner]); }

void RunWatcher::on_failure(size_t runner, const Error& failure) {
  results::RunnerRun& run = report_.runs[runner];
  const Error error = with_made_up_shapes(failure, run.inputs, findings_);
  run.failure = error.line();
  run.remedy = error.remedy();
  run.is_input_bad = exit_status(error.code()) == kExitUsage;
  observer_.on_runner_failed(run, error);
  const auto is_silent = [](const results::RunnerRun& other) { return other.outputs.empty() && other.iterations == 0; };
  if (!std::all_of(report_.runs.begin() + static_cast<std::ptrdiff_t>(runner), report_.runs.end(), is_silent)) {
    return comparer_.drop(place_of(runner));
  }
  std::erase(compared_, runner);
  if (on_left_out_) on_left_out_(runners_[runner]->name());
}

size_t RunWatcher::place_of(size_t runner) const {
  return static_cast<size_t>(std::ranges::find(compared_, runner) - compared_.begin());
}

void RunWatcher::save() {
  if (!request_.save_inputs.empty()) {
    observer_.info("Saving inference input data to " + printable(request_.save_inputs));
    formats::save_inputs(request_.save_inputs, inputs_);
  }
  if (!request_.save_outputs.empty()) {
    observer_.info("Saving inference results to " + printable(request_.save_outputs));
    formats::save_results(request_.save_outputs, outputs_);
  }
}

results::RunReport RunWatcher::take(formats::SavedRuns& outputs) {
  if (request_.keeps_outputs) outputs = std::move(outputs_);
  std::vector<results::PairComparison> pairs = script_comparer_ ? script_comparer_->take() : comparer_.take();
  for (size_t i = 0; i + 1 < compared_.size(); ++i) {
    const results::RunnerRun& a = report_.runs[compared_[i]];
    const results::RunnerRun& b = report_.runs[compared_[i + 1]];
    if (!a.failure.empty() || !b.failure.empty()) continue;
    pairs[i].runner_a = a.runner;
    pairs[i].runner_b = b.runner;
    pairs[i].verdict = compare::verdict(pairs[i]);
    if (request_.check_average) report_.averages.push_back(compare::average(pairs[i]));
    report_.pairs.push_back(std::move(pairs[i]));
  }
  report_.verdict = compare::verdict(report_);
  return std::move(report_);
}

}  // namespace assay::tasks
