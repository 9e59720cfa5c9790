#include "cli/run/reports.h"

#include "base/files.h"
#include "base/text.h"
#include "report/html/page.h"
#include "report/junit.h"

namespace assay::cli {
namespace {

void write_file(const std::string& path, std::string_view text) {
  OutputFile file(path);
  file.write(text);
  file.commit();
}

}  // namespace

void write_reports(const results::RunReport& report, const RunRequest& request, Environment& environment) {
  if (!request.junit.empty()) {
    environment.log.info("Saving JUnit report to " + printable(request.junit));
    write_file(request.junit, report::junit_xml(report));
  }
  if (request.page.empty()) return;
  environment.log.info("Saving report to " + printable(request.page));
  write_file(request.page, report::html_page(report, {.version = ASSAY_VERSION, .command = environment.command_line}));
}

}  // namespace assay::cli
