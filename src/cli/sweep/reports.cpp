#include "cli/sweep/reports.h"

#include <algorithm>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "cli/options/groups/json.h"
#include "report/json_reports.h"
#include "report/sweep/sweep_page.h"
#include "report/sweep/text_sweep.h"
#include "tasks/sweep.h"

namespace assay::cli {
namespace {

constexpr std::string_view kJunit = "--junit";
constexpr std::string_view kCsv = "--save-csv";
constexpr std::string_view kSqlite = "--save-sqlite";

void save(const std::string& path, std::string_view what, std::string_view text, Log& log) {
  log.info(fmt::format("Saving {} to {}", what, printable(path)));
  OutputFile file(path);
  file.write(text);
  file.commit();
}

std::string option_of_side(const std::string& side) {
  const size_t at = side.find('@');
  return at == std::string::npos ? "--" + side : fmt::format("--{} {}", side.substr(0, at + 1), side.substr(at + 1));
}

// A sweep over the one sample repeats what `run` cannot: a variant beside the model as it is, a side with settings of
// its own. Empty: one sample would calibrate another model.
std::string repeating_command(const results::SweepWorst& worst, const std::string& reference) {
  if (tasks::is_calibrated(worst.variant)) return "";
  const bool is_alone = worst.side == reference;
  const bool is_varied = worst.variant != "original";
  const bool has_settings = (worst.side + reference).find(':') != std::string::npos;
  if (is_varied || has_settings)
    return fmt::format("assay sweep --models {} --run {}{}{} --data {} -o repeated", worst.model, reference,
                       is_alone ? "" : " " + worst.side, is_varied ? " --vary " + worst.variant : "", worst.file);
  return fmt::format("assay run {} {}{} --load-inputs {}", worst.model, option_of_side(worst.side),
                     is_alone ? "" : " " + option_of_side(reference), worst.file);
}

}  // namespace

void add_commands(results::SweepReport& report) {
  for (results::SweepWorst& worst : report.worst) worst.command = repeating_command(worst, report.rows.front().side);
}

OptionGroup sweep_report_group() {
  const auto file = [](std::string_view name, std::string_view help) {
    return OptionRow{.names = {name}, .metavar = "FILE", .help = help, .is_file = true, .is_output = true};
  };
  return {.title = "Further Reports",
          .description = "The result in other forms",
          .rows = {file("--report", "write one self-contained HTML page"),
                   file(kJunit, "write JUnit XML: a suite for each model, a case for each variant on each side"),
                   file(kCsv, "write a line for each unit"),
                   file(kSqlite, "write tables of units, metrics, samples and causes as an SQLite database")}};
}

void print_sweep(const results::SweepReport& report, Log& log) {
  for (const std::string& line : report::sweep_lines(report, log.enabled(LogLevel::verbose))) log.result(line);
}

void write_sweep_reports(const results::SweepReport& report, const Arguments& arguments, Environment& environment) {
  if (wants_report(arguments, kJunit)) {
    save(arguments.value(kJunit), "JUnit report", report::junit_xml("assay sweep", report::sweep_suites(report)),
         environment.log);
    environment.reports.made.push_back(kJunit);
  }
  if (wants_report(arguments, "--report"))
    write_page(arguments, environment, report::sweep_page(report, page_facts(environment)));
  if (wants_report(arguments, kCsv)) save(arguments.value(kCsv), "units", tasks::sweep_csv(report), environment.log);
  if (wants_report(arguments, kSqlite)) {
    environment.log.info("Saving tables to " + printable(arguments.value(kSqlite)));
    tasks::save_sweep_store(arguments.value(kSqlite), report);
  }
  if (wants_json(arguments)) write_json(arguments, environment, report::report_json(report, false));
}

int sweep_status(const results::SweepReport& report, bool is_share) {
  using results::UnitStatus;
  const auto is = [&](UnitStatus status) {
    return [status](const results::SweepUnit& unit) { return unit.status == status; };
  };
  if (std::ranges::any_of(report.units, is(UnitStatus::differs))) return kExitDifferent;
  const bool is_decided = std::ranges::all_of(report.units, is(UnitStatus::same));
  return is_decided && (is_share || report.pending_count == 0) ? kExitEqual : kExitUndecided;
}

std::string_view sweep_word(int status) {
  return status == kExitEqual ? "PASSED" : status == kExitDifferent ? "FAILED" : "UNDECIDED";
}

OptionRow sweep_folder_row() {
  return {.names = {"folder"}, .metavar = "FOLDER", .help = "the folder of a sweep", .is_file = true};
}

}  // namespace assay::cli
