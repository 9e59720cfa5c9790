#include "compare/runs/rejudge.h"

#include <algorithm>
#include <array>

#include "base/error.h"

namespace assay::compare {
namespace {

using results::SavedMetrics;
using results::Verdict;

constexpr std::array<std::string_view, 4> kMetricFunctions = {"l2", "cosine_similarity", "psnr", "snr"};

Verdict verdict_of(bool passed) { return passed ? Verdict::equal : Verdict::different; }

class Rejudge {
 public:
  explicit Rejudge(const NewThresholds& thresholds) : thresholds_(thresholds), options_(thresholds.options) {}

  Verdict judge(const SavedMetrics& metrics, const std::string& function) {
    if (function == "simple" && metrics.absolute[0]) return judge_simple(metrics);
    const auto known = std::ranges::find(kMetricFunctions, function);
    if (known == kMetricFunctions.end() || metrics.passed) return verdict_of(metrics.passed.value_or(false));
    const auto index = static_cast<size_t>(known - kMetricFunctions.begin());
    const double bound = thresholds_.has_bound[index] ? new_bound(index, metrics.output) : metrics.bound;
    const bool passed = index == 0 ? metrics.value <= bound : metrics.value >= bound;
    note(metrics, passed, fmt::format("{} {:.5g} against {:.5g}", function, metrics.value, bound));
    return verdict_of(passed);
  }

  std::vector<std::string> take_lines() { return std::move(lines_); }

 private:
  double new_bound(size_t index, const std::string& output) const {
    switch (index) {
      case 0:
        return options_.l2.of(output);
      case 1:
        return options_.cosine.of(output);
      case 2:
        return options_.psnr_db.of(output);
      default:
        return options_.snr_db.of(output);
    }
  }

  Verdict judge_simple(const SavedMetrics& metrics) {
    const std::string& name = metrics.output;
    const double atol = thresholds_.has_atol ? options_.atol.of(name) : metrics.atol;
    const double rtol = thresholds_.has_rtol ? options_.rtol.of(name) : metrics.rtol;
    const std::string statistic =
        thresholds_.has_statistic ? std::string(word(options_.statistic.of(name))) : metrics.statistic;
    if (statistic == "elemwise") return judge_elements(metrics, atol, rtol);
    constexpr std::array<std::string_view, 4> kStatistics = {"max", "mean", "median", "quantile"};
    const auto index = static_cast<size_t>(std::ranges::find(kStatistics, statistic) - kStatistics.begin());
    if (index == kStatistics.size() || !metrics.absolute[index] || !metrics.relative[index]) {
      lines_.push_back(fmt::format("UNDECIDED | Output: '{}' | The file holds no {}", printable(name), statistic));
      return Verdict::undecided;
    }
    const bool passed = *metrics.absolute[index] <= atol || *metrics.relative[index] <= rtol;
    note(metrics, passed,
         fmt::format("{} error: abs={:.5g}, rel={:.5g} against abs={:.5g}, rel={:.5g}", statistic,
                     *metrics.absolute[index], *metrics.relative[index], atol, rtol));
    return verdict_of(passed);
  }

  Verdict judge_elements(const SavedMetrics& metrics, double atol, double rtol) {
    const bool is_within = *metrics.absolute[0] <= atol || (metrics.relative[0] && *metrics.relative[0] <= rtol);
    if (is_within) return Verdict::equal;
    const bool has_verdict = metrics.passed && metrics.statistic == "elemwise";
    if (has_verdict && *metrics.passed && atol >= metrics.atol && rtol >= metrics.rtol) return Verdict::equal;
    if (has_verdict && !*metrics.passed && atol <= metrics.atol && rtol <= metrics.rtol) {
      note(metrics, false, fmt::format("elements exceed abs={:.5g}, rel={:.5g}", atol, rtol));
      return Verdict::different;
    }
    lines_.push_back(
        fmt::format("UNDECIDED | Output: '{}' | The greatest differences (abs={:.5g}, rel={:.5g}) exceed "
                    "abs={:.5g}, rel={:.5g}, and which elements exceed both is not in the file",
                    printable(metrics.output), *metrics.absolute[0], metrics.relative[0].value_or(0), atol, rtol));
    return Verdict::undecided;
  }

  void note(const SavedMetrics& metrics, bool passed, const std::string& text) {
    if (!passed) lines_.push_back(fmt::format("FAILED | Output: '{}' | {}", printable(metrics.output), text));
  }

  const NewThresholds& thresholds_;
  const CompareOptions& options_;
  std::vector<std::string> lines_;
};

bool is_selected(const std::string& function, const NewThresholds& thresholds) {
  if (!thresholds.has_functions) return true;
  return std::ranges::any_of(thresholds.options.functions, [&](Function wanted) { return word(wanted) == function; });
}

void check_stored(const results::AccuracyResults& saved, const NewThresholds& thresholds) {
  if (!thresholds.has_functions) return;
  for (const Function wanted : thresholds.options.functions) {
    const bool is_stored =
        std::ranges::any_of(saved, [&](const results::SavedComparison& item) { return item.function == word(wanted); });
    if (!is_stored) fail(ErrorCode::usage, "the file holds no results of the function `{}`", word(wanted));
  }
}

results::RejudgedPair judge_pair(const results::SavedPair& pair, const std::string& function,
                                 const NewThresholds& thresholds) {
  results::RejudgedPair result{function, pair.runner_a, pair.runner_b, pair.iterations.size(), 0, 0, {}};
  Rejudge judge(thresholds);
  for (const std::vector<SavedMetrics>& iteration : pair.iterations) {
    bool passed = !iteration.empty();
    bool undecided = iteration.empty();
    for (const SavedMetrics& metrics : iteration) {
      const Verdict verdict = judge.judge(metrics, function);
      passed = passed && verdict == Verdict::equal;
      undecided = undecided || verdict == Verdict::undecided;
      if (verdict != Verdict::different) continue;
      undecided = false;
      break;
    }
    result.passed += passed ? 1 : 0;
    result.undecided += undecided ? 1 : 0;
  }
  result.lines = judge.take_lines();
  return result;
}

}  // namespace

void settle(results::AccuracyResults& saved) {
  const CompareOptions defaults;
  const NewThresholds stored{.options = defaults};
  for (results::SavedComparison& comparison : saved) {
    for (results::SavedPair& pair : comparison.pairs) {
      for (std::vector<SavedMetrics>& outputs : pair.iterations) {
        for (SavedMetrics& metrics : outputs) {
          metrics.passed = Rejudge(stored).judge(metrics, comparison.function) == Verdict::equal;
        }
      }
    }
  }
}

results::Rejudgement rejudge(const results::AccuracyResults& saved, const NewThresholds& thresholds) {
  check_stored(saved, thresholds);
  results::Rejudgement result;
  bool is_different = false;
  bool is_undecided = false;
  uint64_t judged = 0;
  for (const results::SavedComparison& comparison : saved) {
    if (!is_selected(comparison.function, thresholds)) {
      result.ignored.push_back(comparison.function);
      continue;
    }
    for (const results::SavedPair& pair : comparison.pairs) {
      result.pairs.push_back(judge_pair(pair, comparison.function, thresholds));
      const results::RejudgedPair& last = result.pairs.back();
      judged += last.iterations;
      is_different = is_different || last.passed + last.undecided < last.iterations;
      is_undecided = is_undecided || last.undecided > 0;
    }
  }
  if (is_different)
    result.verdict = Verdict::different;
  else
    result.verdict = is_undecided || judged == 0 ? Verdict::undecided : Verdict::equal;
  return result;
}

}  // namespace assay::compare
