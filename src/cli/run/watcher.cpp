#include "cli/run/watcher.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "cli/run/describe.h"
#include "compare/runs/averages.h"
#include "compare/runs/verdict.h"
#include "compare/statistics.h"
#include "compare/validate.h"
#include "formats/input_blob.h"
#include "report/text_run.h"
#include "report/text_stats.h"

namespace assay::cli {
namespace {

constexpr uint64_t kMostCounted = uint64_t{1} << 32;

}  // namespace

RunWatcher::RunWatcher(const RunRequest& request, std::span<const exec::RunnerPtr> runners, const Diagnostics& findings,
                       Log& log, remote::PythonHost* host)
    : request_(request),
      runners_(runners),
      findings_(findings),
      log_(log),
      progress_(log, "iterations"),
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
    if (!request.save_outputs.empty() && runner->is_live()) outputs_.push_back({runner->name(), {}});
  }
}

void RunWatcher::expect_iterations(const exec::DataSource* source) {
  uint64_t total = 0;
  for (const exec::RunnerPtr& runner : runners_) {
    const std::optional<uint64_t> count = runner->is_live() ? source->count() : runner->iterations();
    if (!count || *count > kMostCounted) return;
    total += *count;
  }
  progress_.expect(total);
}

void RunWatcher::on_opening(size_t runner) {
  loading_[runner] = Stopwatch();
  if (!runners_[runner]->is_live()) return;
  log_.start(fmt::format("{:<35} | Activating and starting inference", printable(runners_[runner]->name())));
}

void RunWatcher::on_opened(size_t runner) {
  report_.runs[runner].load_seconds = loading_[runner].seconds();
  const std::string description = runners_[runner]->description();
  if (!description.empty()) log_.info(description);
  print_findings();
}

void RunWatcher::print_findings() {
  const std::vector<Diagnostic>& all = findings_.all();
  for (; printed_findings_ < all.size(); ++printed_findings_) {
    const std::string& message = all[printed_findings_].message;
    if (printed_messages_.insert(message).second) log_.warning(message);  // several backends may say the same
  }
}

void RunWatcher::on_feeds(size_t runner, uint64_t iteration, const tensor::NamedData& feeds) {
  const bool is_kept = !request_.save_inputs.empty() && inputs_.size() == iteration;
  if (is_kept) inputs_.push_back(feeds);
  if (request_.save_blobs && runner == 0) formats::save_input_blob(*request_.save_blobs, iteration, feeds);
  if (iteration != 0) return;
  results::RunnerRun& run = report_.runs[runner];
  for (const exec::Feed& feed : feeds) run.inputs.push_back(describe(feed.name, feed.value));
  log_.info(fmt::format("{:<35}\n---- Inference Input(s) ----\n{}", printable(run.runner), values_text(run.inputs)));
}

void RunWatcher::on_value(size_t runner, uint64_t iteration, std::string_view name, const tensor::Datum& value) {
  if (iteration == 0) record(runner, name, value);
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
    const compare::Validity validity = compare::validate(part.value.tensor());
    report_.validated.push_back({.runner = runners_[runner]->name(),
                                 .iteration = iteration,
                                 .name = part.name,
                                 .stats = compare::statistics(part.value.tensor()),
                                 .nan_count = validity.nan_count,
                                 .inf_count = validity.inf_count,
                                 .first_nan_at = validity.first_nan_at,
                                 .first_inf_at = validity.first_inf_at});
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
  progress_.advance();
}

void RunWatcher::on_finished(size_t runner) {
  results::RunnerRun& run = report_.runs[runner];
  if (!run.is_live) return;
  print_outputs(run);
  if (run.iterations == 0) return;
  const double total_ms = run.run_seconds * 1e3;
  log_.finish(fmt::format("{:<35} | Completed {} iteration(s) in {:.4g} ms | Average inference time: {:.4g} ms.",
                          printable(run.runner), run.iterations, total_ms,
                          total_ms / static_cast<double>(run.iterations)));
}

std::string RunWatcher::values_text(const std::vector<results::RunValue>& values) const {
  constexpr size_t kMostListed = 30;
  return report::values_text(values, log_.enabled(LogLevel::verbose) ? values.size() : kMostListed);
}

void RunWatcher::print_outputs(const results::RunnerRun& run) {
  log_.info(fmt::format("{:<35}\n---- Inference Output(s) ----\n{}", printable(run.runner), values_text(run.outputs)));
  for (const results::RunValue& output : run.outputs) {
    if (!output.stats) continue;
    log_.info(fmt::format("    {}: {} | Stats: {}", printable(run.runner), printable(output.name),
                          report::stats_text(*output.stats)));
  }
}

void RunWatcher::on_failure(size_t runner, const Error& error) {
  report_.runs[runner].failure = error.line();
  log_.error("error: " + error.line());
  const auto is_silent = [](const results::RunnerRun& run) { return run.outputs.empty() && run.iterations == 0; };
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
    log_.info("Saving inference input data to " + printable(request_.save_inputs));
    formats::save_inputs(request_.save_inputs, inputs_);
  }
  if (!request_.save_outputs.empty()) {
    log_.info("Saving inference results to " + printable(request_.save_outputs));
    formats::save_results(request_.save_outputs, outputs_);
  }
}

results::RunReport RunWatcher::take() {
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

}  // namespace assay::cli
