#include "cli/run/reports.h"

#include "report/html/page.h"
#include "report/run/junit_run.h"

namespace assay::cli {

void write_reports(const results::RunReport& report, const Arguments& arguments, Environment& environment) {
  if (wants_report(arguments, "--junit")) write_junit(arguments, environment, report::junit_suite(report));
  if (!wants_report(arguments, "--report")) return;
  write_page(arguments, environment,
             report::html_page(report, {.version = ASSAY_VERSION, .command = environment.command_line}));
}

}  // namespace assay::cli
