#include "report/sweep/text_sweep.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "base/text.h"

namespace assay::report {
namespace {

constexpr size_t kMostListed = 20;

std::string row_name(const auto& row) {
  return fmt::format("{} | {} | {}", printable(row.model), row.variant, printable(row.side));
}

std::string row_line(const results::SweepRow& row) {
  std::string line = fmt::format("    {} | {}", row_name(row), unit_status_word(row.status));
  if (row.done_count < row.unit_count) line += fmt::format(" | {} of {} units done", row.done_count, row.unit_count);
  if (row.difference && row.difference->failed > 0)
    line += fmt::format(" | {} of {} samples, max abs {:.4g}, max rel {:.4g}", row.difference->failed,
                        row.difference->compared, row.difference->max_abs, row.difference->max_rel);
  return line;
}

void add_rows(const results::SweepReport& report, bool is_full, std::vector<std::string>& lines) {
  size_t left = 0;
  size_t listed = 0;
  for (const results::SweepRow& row : report.rows) {
    const bool is_wanted = is_full || (row.done_count > 0 && row.status != results::UnitStatus::same);
    if (!is_wanted) continue;
    if (!is_full && listed == kMostListed) {
      ++left;
      continue;
    }
    ++listed;
    lines.push_back(row_line(row));
  }
  if (left > 0) lines.push_back(fmt::format("    ... and {} more (-v lists all)", left));
}

void add_metrics(const results::SweepReport& report, bool is_full, std::vector<std::string>& lines) {
  const size_t most = is_full ? report.metrics.size() : std::min(kMostListed, report.metrics.size());
  for (const results::SweepScore& score : std::span(report.metrics).first(most)) {
    std::string line = fmt::format("{} | {} = {:.6g} [{:.6g}, {:.6g}] of {} samples", row_name(score),
                                   printable(score.name), score.value, score.low, score.high, score.samples);
    if (score.paired) {
      line += fmt::format(" | {:+.6g} [{:+.6g}, {:+.6g}] from {}", score.paired->difference, score.paired->low,
                          score.paired->high, printable(score.paired->side));
      if (score.paired->p_value) line += fmt::format(", p = {:.3g}", *score.paired->p_value);
    }
    lines.push_back(std::move(line));
  }
  if (most < report.metrics.size())
    lines.push_back(fmt::format("... and {} more (-v lists all)", report.metrics.size() - most));
}

void add_causes(const results::SweepReport& report, std::vector<std::string>& lines) {
  if (report.causes.empty()) return;
  uint64_t units = 0;
  for (const results::SweepCause& cause : report.causes) units += cause.count;
  lines.push_back(fmt::format("{} units, {} cause(s):", units, report.causes.size()));
  for (const results::SweepCause& cause : report.causes) {
    lines.push_back(fmt::format("    {} x {} | {} | {} model(s), as {}", cause.count, unit_status_word(cause.status),
                                printable(cause.signature), cause.models.size(), printable(cause.example)));
  }
}

void add_worst(const results::SweepReport& report, std::vector<std::string>& lines) {
  constexpr size_t kMost = 5;
  if (report.worst.empty()) return;
  lines.emplace_back("Worst samples, each with the command that repeats it, or the file of its inputs:");
  for (size_t i = 0; i < std::min(kMost, report.worst.size()); ++i) {
    const results::SweepWorst& worst = report.worst[i];
    lines.push_back(fmt::format("    {} | sample {} | {}", row_name(worst), worst.sample,
                                printable(worst.command.empty() ? worst.file : worst.command)));
  }
}

void add_changes(const results::SweepReport& report, std::vector<std::string>& lines) {
  if (report.against.empty()) return;
  lines.push_back(fmt::format("{} change(s) against {}", report.changes.size(), printable(report.against)));
  for (const results::SweepChange& change : report.changes) {
    lines.push_back(fmt::format("    {} | {}: {} -> {}{}", row_name(change), change.what, change.before, change.after,
                                change.is_worse ? " (worse)" : ""));
  }
}

}  // namespace

std::string_view unit_status_word(results::UnitStatus status) {
  return results::kUnitStatuses[static_cast<size_t>(status)];
}

std::string counts_text(const std::vector<std::pair<std::string, uint64_t>>& by_status) {
  std::string text;
  for (const auto& [word, count] : by_status) {
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, word);
  }
  return text.empty() ? "nothing is done" : text;
}

std::vector<std::string> sweep_lines(const results::SweepReport& report, bool is_full) {
  std::vector<std::string> lines = {
      fmt::format("{} units: {}{}", report.unit_count, counts_text(report.by_status),
                  report.pending_count == 0 ? "" : fmt::format(", {} to do", report.pending_count))};
  if (report.torn_lines > 0)
    lines.push_back(fmt::format("{} line(s) of the journal are not whole and left out", report.torn_lines));
  add_rows(report, is_full, lines);
  add_metrics(report, is_full, lines);
  add_causes(report, lines);
  add_worst(report, lines);
  add_changes(report, lines);
  return lines;
}

std::vector<std::string> sweep_status_lines(const results::SweepStatus& status) {
  std::vector<std::string> lines = {
      fmt::format("{} of {} units done: {}", status.done_count, status.unit_count, counts_text(status.by_status)),
      status.is_running ? "A sweep is at work" : "No sweep is at work"};
  if (status.pending_count > 0 && status.done_count > 0)
    lines.push_back(fmt::format(
        "{} to do: about {:.3g} s of work", status.pending_count,
        status.unit_seconds / static_cast<double>(status.done_count) * static_cast<double>(status.pending_count)));
  if (status.torn_lines > 0)
    lines.push_back(fmt::format("{} line(s) of the journal are not whole and left out", status.torn_lines));
  return lines;
}

}  // namespace assay::report
