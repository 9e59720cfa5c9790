#include "report/sweep/sweep_page.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "report/html/simple_page.h"
#include "report/sweep/text_sweep.h"

namespace assay::report {
namespace {

using Row = std::vector<std::string>;

constexpr size_t kMostModels = 5000;  // on a page

std::string column_title(const results::SweepRow& row) { return fmt::format("{} {}", row.variant, row.side); }

SimplePage::Cell matrix_cell(const results::SweepRow& row) {
  std::string text(row.done_count == 0 ? "to do" : unit_status_word(row.status));
  if (row.done_count > 0 && row.done_count < row.unit_count)
    text += fmt::format(" ({} of {} units)", row.done_count, row.unit_count);
  if (row.difference) text += fmt::format(" {:.3g}", row.difference->max_abs);
  if (row.done_count == 0) return {std::move(text)};
  const bool is_same = row.status == results::UnitStatus::same;
  return {std::move(text), is_same ? Mark::good : row.status == results::UnitStatus::differs ? Mark::bad : Mark::open};
}

void add_matrix(const results::SweepReport& report, SimplePage& page) {
  Row titles = {"model"};
  std::vector<std::string> models;
  std::map<std::string, std::map<std::string, SimplePage::Cell>> cells;
  for (const results::SweepRow& row : report.rows) {
    const std::string title = column_title(row);
    if (std::ranges::find(titles, title) == titles.end()) titles.push_back(title);
    if (models.empty() || models.back() != row.model) models.push_back(row.model);
    cells[row.model][title] = matrix_cell(row);
  }
  page.heading("Models by variant and side");
  page.paragraph("Status over all samples; behind it the greatest absolute difference from the reference.");
  if (models.size() > kMostModels)
    page.paragraph(fmt::format("The first {} of {} models.", kMostModels, models.size()));
  models.resize(std::min(models.size(), kMostModels));
  std::vector<std::vector<SimplePage::Cell>> rows;
  for (const std::string& model : models) {
    std::vector<SimplePage::Cell> row = {{model}};
    for (size_t i = 1; i < titles.size(); ++i) row.push_back(cells[model][titles[i]]);
    rows.push_back(std::move(row));
  }
  page.marked_table(titles, rows);
}

void add_metric_table(const results::SweepReport& report, SimplePage& page) {
  if (report.metrics.empty()) return;
  std::vector<Row> rows;
  for (const results::SweepScore& score : report.metrics) {
    Row row = {score.name,
               score.model,
               score.variant,
               score.side,
               fmt::format("{:.6g}", score.value),
               fmt::format("{:.4g} to {:.4g}", score.low, score.high),
               std::to_string(score.samples),
               "",
               ""};
    if (score.paired)
      row[7] =
          fmt::format("{:+.4g} ({:+.4g} to {:+.4g})", score.paired->difference, score.paired->low, score.paired->high);
    if (score.paired && score.paired->p_value) row[8] = fmt::format("{:.3g}", *score.paired->p_value);
    rows.push_back(std::move(row));
  }
  page.heading("Metrics");
  page.paragraph(
      "Intervals hold 95 % of the bootstrap over samples; the difference is from the reference on the same samples.");
  page.table({"metric", "model", "variant", "side", "value", "interval", "samples", "difference", "p"}, rows);
}

void add_cause_table(const results::SweepReport& report, SimplePage& page) {
  if (report.causes.empty()) return;
  std::vector<Row> rows;
  std::vector<double> shares;
  for (const results::SweepCause& cause : report.causes) {
    rows.push_back({std::to_string(cause.count), std::string(unit_status_word(cause.status)), cause.signature,
                    std::to_string(cause.models.size()), cause.example});
    shares.push_back(static_cast<double>(cause.count));
  }
  page.heading("Causes");
  page.table({"units", "status", "signature", "models", "for example"}, rows, shares);
}

void add_worst_table(const results::SweepReport& report, SimplePage& page) {
  if (report.worst.empty()) return;
  std::vector<Row> rows;
  for (const results::SweepWorst& worst : report.worst) {
    rows.push_back({worst.model, worst.variant, worst.side, std::to_string(worst.sample), worst.output,
                    fmt::format("{:.4g}", worst.max_abs), worst.command.empty() ? worst.file : worst.command});
  }
  page.heading("Worst samples");
  page.table({"model", "variant", "side", "sample", "output", "max abs", "repeat with"}, rows);
}

void add_change_table(const results::SweepReport& report, SimplePage& page) {
  if (report.against.empty()) return;
  std::vector<Row> rows;
  for (const results::SweepChange& change : report.changes)
    rows.push_back({change.model, change.variant, change.side, change.what, change.before, change.after,
                    change.is_worse ? "worse" : ""});
  page.heading("Against " + report.against);
  page.table({"model", "variant", "side", "what", "before", "after", ""}, rows);
}

bool is_all_same(const results::SweepReport& report) {
  return report.pending_count == 0 && std::ranges::all_of(report.units, [](const results::SweepUnit& unit) {
           return unit.status == results::UnitStatus::same;
         });
}

JunitOutcome outcome_of(const results::SweepRow& row) {
  if (row.done_count < row.unit_count && row.status == results::UnitStatus::same) return JunitOutcome::skipped;
  if (row.status == results::UnitStatus::same) return JunitOutcome::passed;
  return row.status == results::UnitStatus::differs ? JunitOutcome::failure : JunitOutcome::error;
}

std::string reason_of(const results::SweepRow& row, const results::SweepReport& report) {
  for (const results::SweepUnit& unit : report.units) {
    if (unit.model == row.model && unit.variant == row.variant && unit.side == row.side && unit.status == row.status)
      return unit.reason;
  }
  return "";
}

}  // namespace

std::string sweep_page(const results::SweepReport& report, const PageFacts& facts) {
  const bool is_same = is_all_same(report);
  const bool differs = std::ranges::any_of(
      report.units, [](const results::SweepUnit& unit) { return unit.status == results::UnitStatus::differs; });
  const PageHead head{.kind = "sweep",
                      .title = report.folder,
                      .badge = is_same   ? "ALL SAME"
                               : differs ? "DIFFERS"
                                         : "UNDECIDED",
                      .mark = is_same   ? Mark::good
                              : differs ? Mark::bad
                                        : Mark::open};
  SimplePage page(head, facts, fmt::format("{} units: {}", report.unit_count, counts_text(report.by_status)));
  add_matrix(report, page);
  add_cause_table(report, page);
  add_metric_table(report, page);
  add_worst_table(report, page);
  add_change_table(report, page);
  return page.take_text();
}

std::vector<JunitSuite> sweep_suites(const results::SweepReport& report) {
  std::vector<JunitSuite> suites;
  for (const results::SweepRow& row : report.rows) {
    if (suites.empty() || suites.back().name != row.model) suites.push_back({row.model, {}});
    const JunitOutcome outcome = outcome_of(row);
    const std::string reason = outcome == JunitOutcome::passed ? "" : reason_of(row, report);
    suites.back().cases.push_back({row.variant, row.side, row.seconds, outcome, reason});
  }
  return suites;
}

}  // namespace assay::report
