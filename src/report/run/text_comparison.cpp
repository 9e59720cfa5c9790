#include "report/run/text_comparison.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "report/run/text_output.h"
#include "report/run/text_run.h"
#include "report/run/text_stats.h"

namespace assay::report {
namespace {

// One decimal, rounded down: 100.0 is all of them.
std::string percentage(uint64_t part, uint64_t whole) {
  return fmt::format("{:.1f}", std::floor(1000.0 * static_cast<double>(part) / static_cast<double>(whole)) / 10);
}

// The first names, unless the log is to have all.
std::string short_list(const std::vector<std::string>& names, std::string_view hint, Log& log) {
  constexpr size_t kMostListed = 30;
  if (names.size() <= kMostListed || log.enabled(LogLevel::verbose)) return name_list(names);
  return name_list({names.begin(), names.begin() + kMostListed}) +
         fmt::format(" and {} more{}", names.size() - kMostListed, hint);
}

void print_unpaired(const results::IterationComparison& iteration, const RunnerNames& runners,
                    const ComparisonHints& hints, Log& log) {
  for (const std::string& name : iteration.missing) {
    log.verdict(false,
                fmt::format("FAILED | Output: '{}' is missing in {}{}", printable(name), runners.b, hints.unpaired));
  }
  for (const std::string& name : iteration.extra) {
    log.verdict(false, fmt::format("FAILED | Output: '{}' is not in {}{}", printable(name), runners.a, hints.unpaired));
  }
  if (iteration.unpaired.empty()) return;
  log.info(fmt::format("{} tensor(s){} have no partner: {}", iteration.unpaired.size(), hints.left_out,
                       short_list(iteration.unpaired, hints.more, log)));
}

void print_iteration(const results::IterationComparison& iteration, const RunnerNames& runners,
                     const ComparisonHints& hints, Log& log) {
  std::vector<std::string> matched;
  std::vector<std::string> mismatched;
  std::vector<std::string> undecided;
  for (const results::OutputComparison& output : iteration.outputs) {
    print_output(output, runners, log);
    (output.passed ? matched : output.fault == "undecided" ? undecided : mismatched).push_back(output.name_a);
  }
  print_unpaired(iteration, runners, hints, log);
  mismatched.insert(mismatched.end(), iteration.missing.begin(), iteration.missing.end());
  mismatched.insert(mismatched.end(), iteration.extra.begin(), iteration.extra.end());
  if (!undecided.empty())
    log.report(LogLevel::warning, "UNDECIDED | Outputs: " + short_list(undecided, hints.more, log));
  if (!mismatched.empty())
    log.verdict(false, "FAILED | Mismatched outputs: " + name_list(mismatched));
  else if (!matched.empty() && undecided.empty())
    log.verdict(true, "PASSED | All outputs matched | Outputs: " + short_list(matched, hints.more, log));
  else if (undecided.empty())
    log.verdict(false, "SKIPPED | No output could be compared");
}

void print_summary(const results::PairComparison& pair, const RunnerNames& runners, Log& log) {
  const uint64_t total = std::max(pair.iterations_a, pair.iterations_b);
  if (pair.iterations_a != pair.iterations_b) {
    log.verdict(false, fmt::format("FAILED | {} has {} iteration(s), {} has {}", runners.a, pair.iterations_a,
                                   runners.b, pair.iterations_b));
  }
  if (total == 0) return log.verdict(false, "SKIPPED | There are no iterations to compare");
  log.verdict(pair.verdict == results::Verdict::equal,
              fmt::format("Accuracy Summary | {} vs. {} | Passed: {}/{} iterations | Pass Rate: {}%", runners.a,
                          runners.b, pair.passed_count, total, percentage(pair.passed_count, total)));
}

struct Row {
  const results::OutputComparison* output;
  uint64_t iteration;
};

// NaN is the greatest error.
bool is_worse(const Row& a, const Row& b) {
  const auto rank = [](const Row& row) {
    const double error = row.output->metrics ? row.output->metrics->absolute.greatest : INFINITY;
    return std::isnan(error) ? INFINITY : error;
  };
  if (a.output->passed != b.output->passed) return !a.output->passed;
  return rank(a) > rank(b);
}

// A similarity is 1 to many digits where outputs are nearly equal.
double cosine_distance(const results::PairMetrics& metrics) { return std::max(0.0, 1 - metrics.cosine); }

std::string row_text(const Row& row, size_t width, bool with_iteration) {
  const results::OutputComparison& output = *row.output;
  std::string text = fmt::format("{:<{}} | ", printable(output.name_a), width);
  if (with_iteration) text += fmt::format("{:>9} | ", row.iteration);
  if (output.metrics) {
    const results::PairMetrics& metrics = *output.metrics;
    text += fmt::format("{:>10.4g} | {:>10.4g} | {:>12} | {:>11.4g} | {:>10}", metrics.absolute.greatest,
                        metrics.relative.greatest, metrics.max_ulp, cosine_distance(metrics), metrics.failed_count);
  } else {
    text += fmt::format("{:>10} | {:>10} | {:>12} | {:>11} | {:>10}", "-", "-", "-", "-", "-");
  }
  return text + (output.passed ? " | PASSED" : output.fault == "undecided" ? " | UNDECIDED" : " | FAILED");
}

}  // namespace

std::string name_list(const std::vector<std::string>& names) {
  std::vector<std::string> quoted;
  for (const std::string& name : names) quoted.push_back("'" + printable(name) + "'");
  return "[" + join(quoted, ", ") + "]";
}

void print_comparison(const results::PairComparison& pair, Log& log, const ComparisonHints& hints) {
  const RunnerNames runners{printable(pair.runner_a), printable(pair.runner_b)};
  log.info(fmt::format("Accuracy Comparison | {} vs. {}", runners.a, runners.b));
  {
    const Log::Indent indent(log);
    const bool is_numbered = pair.iterations.size() > 1;
    for (const results::IterationComparison& iteration : pair.iterations) {
      if (!is_numbered) {
        print_iteration(iteration, runners, hints, log);
        continue;
      }
      log.info(fmt::format("Iteration: {}", iteration.index));
      const Log::Indent deeper(log);
      print_iteration(iteration, runners, hints, log);
    }
    print_error_table(pair, log);
  }
  print_summary(pair, runners, log);
}

void print_error_table(const results::PairComparison& pair, Log& log) {
  constexpr size_t kShown = 20;
  std::vector<Row> rows;
  size_t width = 6;
  for (const results::IterationComparison& iteration : pair.iterations) {
    for (const results::OutputComparison& output : iteration.outputs) {
      if (!output.metrics && output.fault.empty()) continue;  // judged by a script
      rows.push_back({&output, iteration.index});
      width = std::max(width, printable(output.name_a).size());
    }
  }
  if (rows.size() < 2) return;
  std::ranges::stable_sort(rows, is_worse);
  const bool with_iteration = pair.iterations.size() > 1;
  std::string text = fmt::format(
      "---- Outputs By Error ----\n{:<{}} | {}{:>10} | {:>10} | {:>12} | {:>11} | {:>10} | Verdict", "Output", width,
      with_iteration ? "Iteration | " : "", "Max Abs", "Max Rel", "Max ULP", "Cosine Dist", "Beyond");
  const size_t shown = log.enabled(LogLevel::verbose) ? rows.size() : std::min(kShown, rows.size());
  for (size_t i = 0; i < shown; ++i) text += "\n" + row_text(rows[i], width, with_iteration);
  if (shown < rows.size()) text += fmt::format("\n... and {} more (-v shows all)", rows.size() - shown);
  log.finish(text);
}

void print_averages(const results::PairAverages& averages, Log& log) {
  size_t passed = 0;
  for (const results::AveragedOutput& output : averages.outputs) passed += output.passed ? 1 : 0;
  log.verdict(passed == averages.outputs.size(),
              fmt::format("Average Over Iterations | {} vs. {} | Passed: {}/{} outputs", printable(averages.runner_a),
                          printable(averages.runner_b), passed, averages.outputs.size()));
  const Log::Indent indent(log);
  for (const results::AveragedOutput& output : averages.outputs) {
    log.verdict(output.passed, fmt::format("{} | {}:", printable(output.name), output.passed ? "PASSED" : "FAILED"));
    const Log::Indent deeper(log);
    for (const results::Judgement& judgement : output.judgements) print_judgement(judgement, output.name, log);
  }
}

void print_validation(const results::RunReport& report, Log& log) {
  std::vector<std::string> runners;
  for (const results::RunnerRun& run : report.runs) runners.push_back(run.runner);
  log.info("Output Validation | Runners: " + name_list(runners));
  const Log::Indent indent(log);
  bool is_valid = true;
  for (const results::ValidatedOutput& output : report.validated) {
    const std::string name = printable(output.name);
    log.info(fmt::format("{:<35} | Iteration {} | Validating output: {} (check_inf=True, check_nan=True)",
                         printable(output.runner), output.iteration, name));
    const Log::Indent deeper(log);
    if (output.stats) log.info(stats_text(*output.stats));
    if (output.nan_count > 0) {
      log.verdict(false, fmt::format("NaN Detected | One or more NaNs were encountered in this output: {}, first at {}",
                                     output.nan_count, tuple_text(*output.first_nan_at)));
    }
    if (output.inf_count > 0) {
      log.verdict(false, fmt::format("Inf Detected | One or more infinities were encountered in this output: {}, first "
                                     "at {}",
                                     output.inf_count, tuple_text(*output.first_inf_at)));
    }
    const bool is_good = output.nan_count + output.inf_count == 0;
    is_valid = is_valid && is_good;
    log.verdict(is_good, is_good ? fmt::format("PASSED | Output: {} is valid", name)
                                 : fmt::format("FAILED | Errors detected in output: {}", name));
  }
  const auto has_failed = [](const results::RunnerRun& run) { return !run.failure.empty(); };
  if (report.validated.empty() && std::ranges::any_of(report.runs, has_failed))
    log.verdict(false, "UNDECIDED | Output Validation | No backend gave an output");
  else
    log.verdict(is_valid, is_valid ? "PASSED | Output Validation" : "FAILED | Output Validation");
}

}  // namespace assay::report
