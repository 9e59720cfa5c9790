#include "cli/reports.h"

#include <algorithm>
#include <cstdio>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "cli/environment.h"
#include "cli/options/arguments.h"
#include "cli/options/groups/json.h"
#include "report/html/simple_page.h"
#include "report/json_parts.h"

namespace assay::cli {
namespace {

constexpr std::string_view kJson = "--json";
constexpr std::string_view kJunit = "--junit";
constexpr std::string_view kPage = "--report";

void write_file(const std::string& path, std::string_view text) {
  OutputFile file(path);
  file.write(text);
  file.commit();
}

void put_json(const Arguments& arguments, Environment& environment, std::string_view text) {
  if (json_on_stdout(arguments))
    std::fwrite(text.data(), 1, text.size(), environment.out);
  else
    write_file(arguments.value(kJson), text);
}

void put_junit(const Arguments& arguments, Environment& environment, std::string_view title,
               const std::vector<report::JunitSuite>& suites) {
  environment.log.info("Saving JUnit report to " + printable(arguments.value(kJunit)));
  write_file(arguments.value(kJunit), report::junit_xml(title, suites));
}

std::string model_of(const Arguments& arguments) {
  return arguments.knows("model_file") ? arguments.value("model_file") : "";
}

std::string failure_page(std::string_view command, const std::string& model, std::string_view line,
                         const report::PageFacts& facts) {
  const report::PageHead head{
      .kind = command, .title = model.empty() ? "No model" : model, .badge = "NOT FINISHED", .mark = report::Mark::bad};
  report::SimplePage page(head, facts, line);
  return page.take_text();
}

}  // namespace

bool wants_report(const Arguments& arguments, std::string_view option) {
  return arguments.knows(option) && arguments.has(option);
}

void write_json(const Arguments& arguments, Environment& environment, std::string text) {
  Reports& reports = environment.reports;
  if (reports.are_kept)
    reports.json.push_back(std::move(text));
  else
    put_json(arguments, environment, text);
  reports.made.push_back(kJson);
}

void write_junit(const Arguments& arguments, Environment& environment, report::JunitSuite suite) {
  Reports& reports = environment.reports;
  if (reports.are_kept)
    reports.junit.push_back(std::move(suite));
  else
    put_junit(arguments, environment, "assay", {std::move(suite)});
  reports.made.push_back(kJunit);
}

void write_page(const Arguments& arguments, Environment& environment, std::string_view html) {
  environment.log.info("Saving report to " + printable(arguments.value(kPage)));
  write_file(arguments.value(kPage), html);
  environment.reports.made.push_back(kPage);
}

report::PageFacts page_facts(const Environment& environment) {
  return {.version = ASSAY_VERSION, .command = environment.command_line, .hint = {}};
}

void write_failure(const Command& command, const Arguments& arguments, Environment& environment, std::string_view line,
                   int status) {
  const std::string model = model_of(arguments);
  const auto make = [&](std::string_view option, const auto& write) {
    const bool is_made = std::ranges::find(environment.reports.made, option) != environment.reports.made.end();
    if (is_made || !wants_report(arguments, option)) return;
    static_cast<void>(attempt([&] {
      write();
      return true;
    }));
  };
  make(kJson, [&] { write_json(arguments, environment, report::failure_json(command.path, model, line, status)); });
  make(kJunit, [&] {
    const std::string name = model.empty() ? std::string(command.path) : model;
    write_junit(arguments, environment,
                {name, {{"", std::string(command.path), 0, report::JunitOutcome::error, std::string(line)}}});
  });
  make(kPage,
       [&] { write_page(arguments, environment, failure_page(command.path, model, line, page_facts(environment))); });
}

void write_kept(const Command& command, const Arguments& arguments, Environment& environment, int status,
                double seconds) {
  Reports& reports = environment.reports;
  reports.are_kept = false;
  if (wants_report(arguments, kJson)) {
    put_json(arguments, environment, report::models_json(command.path, reports.json, status, seconds));
  }
  if (wants_report(arguments, kJunit)) put_junit(arguments, environment, "assay", reports.junit);
}

}  // namespace assay::cli
