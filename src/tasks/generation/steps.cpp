#include "tasks/generation/steps.h"

#include <algorithm>
#include <cmath>

#include "tasks/generation/cache_error.h"

namespace assay::tasks {
namespace {

using TokensBySide = std::vector<std::vector<std::vector<int64_t>>>;

// NaN is the greatest.
void raise(std::optional<double>& worst, double number) {
  if (!worst || std::isnan(number) || number > *worst) worst = number;
}

double greatest_difference(std::span<const double> a, std::span<const double> b) {
  double greatest = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const double difference = std::abs(a[i] - b[i]);
    if (std::isnan(difference)) return difference;
    greatest = std::max(greatest, difference);
  }
  return greatest;
}

// The first row in which tokens differ; nullopt: they are the same.
std::optional<size_t> differing_row(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  const auto found = std::ranges::mismatch(a, b).in1;
  return found == a.end() ? std::nullopt : std::optional(static_cast<size_t>(found - a.begin()));
}

size_t number_of(const std::vector<std::string>& runners, const std::string& runner) {
  return static_cast<size_t>(std::ranges::find(runners, runner) - runners.begin());
}

results::GenerationDivergence divergence(const results::GenerationStep& step, const results::StepSide& side, size_t row,
                                         const std::string& first, int64_t token_a, int64_t token_b) {
  results::GenerationDivergence found{.step = step.step, .position = step.position, .row = row};
  found.runner_a = first;
  found.runner_b = side.runner;
  found.token_a = token_a;
  found.token_b = token_b;
  found.kl = side.kl;
  found.cache_relative = side.cache_relative;
  return found;
}

}  // namespace

results::StepSide compare_step(const StepRecord& first, const StepRecord& other, const analysis::FeedRules& rules,
                               bool same_context) {
  results::StepSide side{.same_context = same_context, .top1_same = first.scores.tokens == other.scores.tokens};
  if (!same_context) return side;
  for (size_t row = 0; row < std::min(first.scores.rows.size(), other.scores.rows.size()); ++row) {
    raise(side.kl, compare::next_token_divergence(first.scores.rows[row], other.scores.rows[row]));
    raise(side.max_abs, greatest_difference(first.scores.rows[row], other.scores.rows[row]));
  }
  const std::optional<CacheError> error = cache_error(rules.caches, first.written, other.written);
  if (!error) return side;
  side.cache_max_abs = error->max_abs;
  side.cache_relative = error->relative;
  if (error->max_abs != 0) side.worst_cache = error->worst;
  return side;
}

void join_steps(results::Generation& generation, const std::vector<std::string>& runners, const TokensBySide& tokens,
                size_t first) {
  for (results::GenerationStep& step : generation.steps) {
    const std::vector<int64_t>& expected = tokens[first][step.step];
    std::optional<size_t> row;
    for (const results::StepSide& side : step.sides) {
      const std::vector<int64_t>& chosen = tokens[number_of(runners, side.runner)][step.step];
      const std::optional<size_t> differing = differing_row(expected, chosen);
      step.top1_same = step.top1_same && side.top1_same;
      if (side.kl) raise(step.kl, *side.kl);
      if (!differing) continue;
      if (!row || side.same_context) row = differing;
      if (side.same_context && !generation.first_divergence) {
        generation.first_divergence =
            divergence(step, side, *differing, runners[first], expected[*differing], chosen[*differing]);
      }
    }
    step.row = row.value_or(0);
    for (const std::vector<std::vector<int64_t>>& side : tokens)
      step.token.push_back(step.step < side.size() ? side[step.step][step.row] : -1);
  }
}

}  // namespace assay::tasks
