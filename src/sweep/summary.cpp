#include "sweep/summary.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "sweep/folder.h"
#include "sweep/keys.h"
#include "sweep/scores.h"
#include "sweep/signature.h"

namespace assay::sweep {
namespace {

using results::SweepUnit;
using results::UnitStatus;

constexpr size_t kMostWorst = 50;

// From harmless to bad.
size_t badness(UnitStatus status) {
  constexpr std::array kOrder = {UnitStatus::same,    UnitStatus::cancelled, UnitStatus::refused, UnitStatus::bad_input,
                                 UnitStatus::timeout, UnitStatus::memory,    UnitStatus::died,    UnitStatus::differs};
  return static_cast<size_t>(std::ranges::find(kOrder, status) - kOrder.begin());
}

std::vector<std::pair<std::string, uint64_t>> count_by_status(const std::vector<SweepUnit>& units) {
  std::vector<std::pair<std::string, uint64_t>> counts;
  for (const std::string_view word : results::kUnitStatuses) counts.emplace_back(word, 0);
  for (const SweepUnit& unit : units) ++counts[static_cast<size_t>(unit.status)].second;
  return counts;
}

// Records of one key serve all units that have it; the names are those of the unit.
std::optional<SweepUnit> recorded(const results::SweepPlan& plan, const UnitAt& at, const Journal& journal) {
  SweepUnit blank = blank_unit(plan, at);
  const auto found = journal.units.find(blank.key);
  if (found == journal.units.end()) return std::nullopt;
  SweepUnit unit = found->second;
  unit.model = blank.model;
  unit.variant = blank.variant;
  unit.side = blank.side;
  unit.shard = blank.shard;
  return unit;
}

void add_to_row(const SweepUnit& unit, results::SweepRow& row) {
  if (badness(unit.status) > badness(row.status)) row.status = unit.status;
  ++row.done_count;
  row.samples += unit.samples;
  row.seconds += unit.seconds;
  if (!unit.difference) return;
  if (row.difference)
    merge(*unit.difference, *row.difference);
  else
    row.difference = unit.difference;
}

std::vector<results::SweepCause> causes_of(const std::vector<SweepUnit>& units) {
  std::map<std::pair<std::string, UnitStatus>, results::SweepCause> causes;
  std::map<std::pair<std::string, UnitStatus>, std::set<std::string>> models;
  for (const SweepUnit& unit : units) {
    if (unit.status == UnitStatus::same) continue;
    const std::pair key(unit.signature, unit.status);
    results::SweepCause& cause = causes[key];
    if (cause.count++ == 0) cause.example = fmt::format("{}: {}", unit.model, unit.reason);
    cause.status = unit.status;
    cause.signature = unit.signature;
    models[key].insert(unit.model);
  }
  std::vector<results::SweepCause> list;
  for (auto& [key, cause] : causes) {
    cause.models.assign(models[key].begin(), models[key].end());
    list.push_back(std::move(cause));
  }
  std::ranges::stable_sort(list, std::greater(), &results::SweepCause::count);
  return list;
}

std::vector<results::SweepWorst> worst_of(const std::vector<SweepUnit>& units, const std::filesystem::path& folder) {
  std::vector<results::SweepWorst> list;
  for (const SweepUnit& unit : units) {
    if (unit.worst_file.empty() || !unit.worst_sample) continue;
    results::SweepWorst worst{unit.model, unit.variant, unit.side, *unit.worst_sample, "", 0, "", ""};
    if (unit.difference) worst.output = unit.difference->output;
    if (unit.difference) worst.max_abs = unit.difference->max_abs;
    worst.file = (folder / unit.worst_file).string();
    list.push_back(std::move(worst));
  }
  const auto size = [](const results::SweepWorst& worst) {
    return std::isnan(worst.max_abs) ? INFINITY : worst.max_abs;
  };
  std::ranges::stable_sort(list, std::greater(), size);
  if (list.size() > kMostWorst) list.resize(kMostWorst);
  return list;
}

// The rows of both reports by model, variant and side.
using RowKey = std::array<std::string, 3>;
template <typename T>
RowKey key_of(const T& row) {
  return {row.model, row.variant, row.side};
}

bool is_better_lower(const std::string& metric) { return !make_metric(metric)->is_better_higher(); }

void compare_scores(const results::SweepReport& older, results::SweepReport& report) {
  std::map<std::pair<RowKey, std::string>, double> before;
  for (const results::SweepScore& score : older.metrics)
    before.emplace(std::pair(key_of(score), score.name), score.value);
  for (const results::SweepScore& score : report.metrics) {
    const auto found = before.find(std::pair(key_of(score), score.name));
    if (found == before.end() || found->second == score.value) continue;
    const bool is_lower = score.value < found->second;
    report.changes.push_back({score.model, score.variant, score.side, score.name, fmt::format("{:.6g}", found->second),
                              fmt::format("{:.6g}", score.value), is_lower != is_better_lower(score.name)});
  }
}

}  // namespace

bool is_undecided(UnitStatus status) { return status != UnitStatus::same && status != UnitStatus::differs; }

void merge(const results::UnitDifference& more, results::UnitDifference& all) {
  all.compared += more.compared;
  all.failed += more.failed;
  all.max_rel = std::max(all.max_rel, more.max_rel);
  all.least_cosine = std::min(all.least_cosine, more.least_cosine);
  for (const auto& [bin, count] : more.bins) all.bins[bin] += count;
  const bool is_worse = more.max_abs > all.max_abs || (std::isnan(more.max_abs) && !std::isnan(all.max_abs));
  if (!is_worse) return;
  all.max_abs = more.max_abs;
  all.sample = more.sample;
  all.output = more.output;
  all.op = more.op;
}

results::SweepReport summarize(const results::SweepPlan& plan, const Journal& journal,
                               const std::filesystem::path& folder) {
  results::SweepReport report;
  report.folder = folder.string();
  report.torn_lines = journal.torn_lines;
  std::map<std::pair<size_t, size_t>, results::SweepRow> rows;
  for (const UnitAt& at : units_of(plan)) {
    results::SweepRow& row = rows[{at.model, at.column}];
    row.model = plan.models[at.model].path;
    row.variant = plan.columns[at.column].variant;
    row.side = plan.columns[at.column].side;
    ++row.unit_count;
    ++report.unit_count;
    std::optional<SweepUnit> unit = recorded(plan, at, journal);
    if (!unit) {
      ++report.pending_count;
      continue;
    }
    add_to_row(*unit, row);
    report.units.push_back(std::move(*unit));
  }
  for (auto& [place, row] : rows) report.rows.push_back(std::move(row));
  report.by_status = count_by_status(report.units);
  report.causes = causes_of(report.units);
  report.worst = worst_of(report.units, folder);
  report.metrics = scores_of(plan, report.units);
  return report;
}

void compare_with(const results::SweepReport& older, results::SweepReport& report) {
  report.against = older.folder;
  std::map<RowKey, UnitStatus> before;
  for (const results::SweepRow& row : older.rows) before.emplace(key_of(row), row.status);
  for (const results::SweepRow& row : report.rows) {
    const auto found = before.find(key_of(row));
    if (row.done_count == 0 || (found != before.end() && found->second == row.status)) continue;
    const std::string_view was =
        found == before.end() ? "absent" : results::kUnitStatuses[static_cast<size_t>(found->second)];
    const bool is_worse = found != before.end() && badness(row.status) > badness(found->second);
    report.changes.push_back({row.model, row.variant, row.side, "status", std::string(was),
                              std::string(results::kUnitStatuses[static_cast<size_t>(row.status)]), is_worse});
  }
  compare_scores(older, report);
}

results::SweepStatus status_of_sweep(const results::SweepPlan& plan, const Journal& journal,
                                     const std::filesystem::path& folder) {
  results::SweepStatus status;
  status.folder = folder.string();
  status.is_running = FolderLock::is_held(folder);
  status.torn_lines = journal.torn_lines;
  std::vector<SweepUnit> done;
  for (const UnitAt& at : units_of(plan)) {
    ++status.unit_count;
    const auto found = journal.units.find(unit_key(plan, at));
    if (found == journal.units.end()) continue;
    SweepUnit unit;
    unit.status = found->second.status;
    status.unit_seconds += found->second.seconds;
    done.push_back(std::move(unit));
  }
  status.done_count = done.size();
  status.pending_count = status.unit_count - status.done_count;
  status.by_status = count_by_status(done);
  return status;
}

}  // namespace assay::sweep
