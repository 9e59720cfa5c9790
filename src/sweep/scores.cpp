#include "sweep/scores.h"

#include <algorithm>
#include <map>

#include "sweep/statistics.h"

namespace assay::sweep {
namespace {

using results::Evidence;
using results::SweepUnit;

// Rows of one metric, by shard.
using Shards = std::map<uint64_t, const Evidence*>;
struct ScoreRow {
  std::string model, variant, side;
  friend auto operator<=>(const ScoreRow&, const ScoreRow&) = default;
};

Evidence joined(const Shards& shards) {
  Evidence rows;
  for (const auto& [shard, part] : shards) rows.insert(rows.end(), part->begin(), part->end());
  return rows;
}

bool are_rows(const Metric& metric, const Evidence& rows) {
  return std::ranges::all_of(rows, [&](const std::vector<double>& row) { return metric.is_row(row); });
}

// Only shards that both have, with as many samples.
void keep_common(Shards& a, Shards& b) {
  const auto lacks = [](const Shards& other) {
    return [&other](const auto& entry) {
      const auto found = other.find(entry.first);
      return found == other.end() || found->second->size() != entry.second->size();
    };
  };
  std::erase_if(a, lacks(b));
  std::erase_if(b, lacks(a));
}

std::optional<results::PairedScore> paired(const Metric& metric, Shards own, Shards other) {
  keep_common(own, other);
  const Evidence a = joined(own);
  const Evidence b = joined(other);
  if (a.empty()) return std::nullopt;
  const Interval interval = difference_with_interval(metric, a, b);
  results::PairedScore score;
  score.difference = interval.value;
  score.low = interval.low;
  score.high = interval.high;
  if (metric.is_mean()) score.p_value = sign_test(a, b);
  return score;
}

}  // namespace

std::vector<results::SweepScore> scores_of(const results::SweepPlan& plan, const std::vector<SweepUnit>& units) {
  std::map<std::string, MetricPtr> metrics;
  for (const std::string& name : plan.metrics) metrics.emplace(name, make_metric(name));
  std::map<std::string, std::map<ScoreRow, Shards>> all;
  std::vector<ScoreRow> order;
  for (const SweepUnit& unit : units) {
    ScoreRow key{unit.model, unit.variant, unit.side};
    for (const auto& [name, rows] : unit.evidence) {
      const auto metric = metrics.find(name);
      if (metric != metrics.end() && are_rows(*metric->second, rows)) all[name][key].emplace(unit.shard, &rows);
    }
    if (std::ranges::find(order, key) == order.end()) order.push_back(std::move(key));
  }
  const results::PlannedColumn& reference = plan.columns.front();
  std::vector<results::SweepScore> scores;
  for (const std::string& name : plan.metrics) {
    const Metric* const metric = metrics.at(name).get();
    for (const ScoreRow& key : order) {
      const auto found = all[name].find(key);
      if (found == all[name].end()) continue;
      const Evidence rows = joined(found->second);
      const Interval interval = score_with_interval(*metric, rows);
      results::SweepScore score{name,           key.model,    key.variant,   key.side, rows.size(),
                                interval.value, interval.low, interval.high, {}};
      const auto other = all[name].find(ScoreRow{key.model, reference.variant, reference.side});
      if (other != all[name].end() && other->first != found->first) {
        score.paired = paired(*metric, found->second, other->second);
        if (score.paired) score.paired->variant = reference.variant;
        if (score.paired) score.paired->side = reference.side;
      }
      scores.push_back(std::move(score));
    }
  }
  return scores;
}

}  // namespace assay::sweep
