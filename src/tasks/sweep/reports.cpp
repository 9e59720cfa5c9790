#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/paths.h"
#include "base/read_text.h"
#include "base/stopwatch.h"
#include "base/text.h"
#include "formats/json/field_reader.h"
#include "results/fields/sweep.h"
#include "sweep/folder.h"
#include "sweep/keys.h"
#include "sweep/store.h"
#include "sweep/summary.h"
#include "tasks/sweep.h"

namespace assay::tasks {
namespace {

namespace fs = std::filesystem;

results::SweepReport report_of(const fs::path& folder) {
  return sweep::summarize(sweep::load_plan(folder), sweep::read_journal(folder), folder);
}

// A folder, or a report that was saved.
results::SweepReport older_report(const std::string& older) {
  if (is_folder(older)) return report_of(older);
  return with_frame([&] { return fmt::format("reading `{}`", printable(older)); },
                    [&] { return formats::read_report<results::SweepReport>(read_text(older)); });
}

// Adds the models of another plan. Error (usage) for sweeps of different things.
void add_plan(const results::SweepPlan& more, results::SweepPlan& plan) {
  const auto same_columns = [](const results::PlannedColumn& a, const results::PlannedColumn& b) {
    return a.variant == b.variant && a.side == b.side && a.version == b.version;
  };
  const auto same_shards = [](const results::PlannedShard& a, const results::PlannedShard& b) {
    return a.begin == b.begin && a.end == b.end && a.digest == b.digest && a.failure == b.failure;
  };
  if (more.options != plan.options || more.version != plan.version ||
      !std::ranges::equal(more.columns, plan.columns, same_columns) ||
      !std::ranges::equal(more.shards, plan.shards, same_shards))
    fail(ErrorCode::usage, "the sweeps have different sides, options or data");
  for (const results::PlannedModel& model : more.models) {
    const auto found = std::ranges::find_if(plan.models, [&](const results::PlannedModel& known) {
      return known.path == model.path && known.digest == model.digest;
    });
    if (found == plan.models.end()) plan.models.push_back(model);
  }
}

void copy_worst(const fs::path& from, const fs::path& target) {
  std::error_code error;
  if (!is_folder(from / "worst") || fs::equivalent(from, target, error)) return;
  fs::create_directories(target / "worst", error);
  fs::copy(from / "worst", target / "worst", fs::copy_options::overwrite_existing, error);
  if (error) fail(ErrorCode::io, "`{}` cannot be copied: {}", printable((from / "worst").string()), error.message());
}

// Records in the order of the plan, so that the file does not depend on who made them.
std::vector<const results::SweepUnit*> in_order(const results::SweepPlan& plan, const sweep::Journal& journal) {
  std::vector<const results::SweepUnit*> units;
  std::set<std::string> seen;
  for (const sweep::UnitAt& at : sweep::units_of(plan)) {
    const auto found = journal.units.find(sweep::unit_key(plan, at));
    if (found != journal.units.end() && seen.insert(found->first).second) units.push_back(&found->second);
  }
  return units;
}

}  // namespace

results::SweepReport report_sweep(const fs::path& folder, const std::string& older) {
  const Stopwatch watch;
  results::SweepReport report = report_of(folder);
  if (!older.empty()) {
    sweep::compare_with(older_report(older), report);
    report.against = older;
  }
  report.timings = {{"total_seconds", watch.seconds()}};
  return report;
}

results::SweepStatus status_of_sweep(const fs::path& folder) {
  const Stopwatch watch;
  results::SweepStatus status = sweep::status_of_sweep(sweep::load_plan(folder), sweep::read_journal(folder), folder);
  status.timings = {{"total_seconds", watch.seconds()}};
  return status;
}

void save_sweep_store(const fs::path& path, const results::SweepReport& report) { sweep::save_sqlite(path, report); }

std::string sweep_csv(const results::SweepReport& report) { return sweep::units_csv(report); }

results::SweepReport merge_sweeps(const std::vector<std::string>& folders, const fs::path& target) {
  results::SweepPlan plan = sweep::load_plan(folders.front());
  sweep::Journal journal;
  for (const std::string& folder : folders) {
    with_frame([&] { return fmt::format("merging `{}`", printable(folder)); },
               [&] { add_plan(sweep::load_plan(folder), plan); });
    sweep::Journal more = sweep::read_journal(folder);
    journal.units.merge(more.units);
    journal.torn_lines += more.torn_lines;
  }
  std::error_code error;
  fs::create_directories(target, error);
  const sweep::FolderLock lock(target, {});
  for (const std::string& folder : folders) copy_worst(folder, target);
  sweep::replace_journal(target, in_order(plan, journal));
  sweep::save_plan(target, plan);
  return sweep::summarize(plan, journal, target);
}

Forgotten forget_results(const fs::path& folder, const std::vector<std::string>& classes) {
  const results::SweepPlan plan = sweep::load_plan(folder);
  const sweep::FolderLock lock(folder, {});
  const sweep::Journal journal = sweep::read_journal(folder);
  Forgotten forgotten{0, plan.folder, plan.words};
  std::vector<const results::SweepUnit*> kept;
  for (const auto& [key, unit] : journal.units) {
    const std::string word(results::kUnitStatuses[static_cast<size_t>(unit.status)]);
    const bool is_forgotten = std::ranges::find(classes, word) != classes.end();
    forgotten.count += is_forgotten ? 1 : 0;
    if (!is_forgotten) kept.push_back(&unit);
  }
  if (forgotten.count > 0) sweep::replace_journal(folder, kept);
  return forgotten;
}

}  // namespace assay::tasks
