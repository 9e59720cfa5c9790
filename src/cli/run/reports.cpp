#include "cli/run/reports.h"

#include "base/files.h"
#include "base/text.h"
#include "report/html/page.h"
#include "report/run/junit.h"

namespace assay::cli {
namespace {

void write_file(const std::string& path, std::string_view text) {
  OutputFile file(path);
  file.write(text);
  file.commit();
}

}  // namespace

void write_reports(const results::RunReport& report, const RunWords& words, Environment& environment) {
  if (!words.junit.empty()) {
    environment.log.info("Saving JUnit report to " + printable(words.junit));
    write_file(words.junit, report::junit_xml(report));
  }
  if (words.page.empty()) return;
  environment.log.info("Saving report to " + printable(words.page));
  write_file(words.page, report::html_page(report, {.version = ASSAY_VERSION, .command = environment.command_line}));
}

}  // namespace assay::cli
