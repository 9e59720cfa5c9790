#include "compare/runs/averages.h"

#include <algorithm>
#include <map>

#include "base/error.h"

namespace assay::compare {
namespace {

struct Sums {
  uint64_t count = 0;
  std::vector<results::Judgement> judgements;  // with sums in the place of values
};

void add(const std::vector<results::Judgement>& judgements, Sums& sums) {
  if (sums.count++ == 0) {
    sums.judgements = judgements;
    return;
  }
  for (size_t i = 0; i < std::min(judgements.size(), sums.judgements.size()); ++i) {
    sums.judgements[i].required_abs += judgements[i].required_abs;
    sums.judgements[i].required_rel += judgements[i].required_rel;
    sums.judgements[i].value += judgements[i].value;
    if (judgements[i].unequal_strings) *sums.judgements[i].unequal_strings += *judgements[i].unequal_strings;
  }
}

results::Judgement averaged(results::Judgement sum, uint64_t count) {
  const auto total = static_cast<double>(count);
  sum.required_abs /= total;
  sum.required_rel /= total;
  sum.value /= total;
  if (sum.unequal_strings)
    sum.passed = *sum.unequal_strings == 0;
  else if (sum.function == "simple")
    sum.passed = sum.required_abs <= sum.atol || sum.required_rel <= sum.rtol;
  else
    sum.passed = sum.function == "l2" ? sum.value <= sum.bound : sum.value >= sum.bound;
  return sum;
}

}  // namespace

void check_averages(const CompareOptions& options) {
  const bool has_indices = std::ranges::find(options.functions, Function::indices) != options.functions.end();
  const bool has_simple = std::ranges::find(options.functions, Function::simple) != options.functions.end();
  bool is_elementwise = options.statistic.of("") == ErrorStatistic::elementwise;
  for (const auto& [name, statistic] : options.statistic.entries()) {
    is_elementwise = is_elementwise || statistic == ErrorStatistic::elementwise;
  }
  std::string reason;
  if (has_indices) reason = "the function `indices` has no average";
  if (has_simple && is_elementwise) {
    reason = "not supported with check_error_stat='elemwise' (the default): choose max, mean, median or quantile";
  }
  if (options.fail_fast) reason = "all iterations are needed, so it cannot be combined with fail_fast";
  if (!reason.empty()) throw Error(ErrorCode::usage, reason).about("check_average");
}

results::PairAverages average(const results::PairComparison& pair) {
  std::map<std::string, Sums> sums;
  std::vector<std::string> order;
  for (const results::IterationComparison& iteration : pair.iterations) {
    for (const results::OutputComparison& output : iteration.outputs) {
      if (!sums.contains(output.name_a)) order.push_back(output.name_a);
      add(output.judgements, sums[output.name_a]);
    }
  }
  results::PairAverages averages{pair.runner_a, pair.runner_b, {}};
  for (const std::string& name : order) {
    results::AveragedOutput output{name, true, {}};
    for (const results::Judgement& sum : sums[name].judgements) {
      output.judgements.push_back(averaged(sum, sums[name].count));
      output.passed = output.passed && output.judgements.back().passed;
    }
    output.passed = output.passed && !output.judgements.empty();
    averages.outputs.push_back(std::move(output));
  }
  return averages;
}

}  // namespace assay::compare
