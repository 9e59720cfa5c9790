#include "cli/run/reports.h"

#include <algorithm>

#include "cli/options/groups/compare.h"
#include "cli/view/graph_section.h"
#include "report/html/page.h"
#include "report/json_reports.h"
#include "report/run/junit_run.h"

namespace assay::cli {

std::string_view tolerance_hint(const results::RunReport& report, const Arguments& arguments) {
  if (report.verdict != results::Verdict::different || report.model.empty() || report.model == "-") return {};
  if (!has_default_tolerance(arguments) || arguments.value("model_file").empty()) return {};
  const auto is_failed = [](const results::OutputComparison& output) { return !output.passed && output.metrics; };
  for (const results::PairComparison& pair : report.pairs) {
    for (const results::IterationComparison& iteration : pair.iterations) {
      if (std::ranges::any_of(iteration.outputs, is_failed)) return kDefaultToleranceHint;
    }
  }
  return {};
}

void write_reports(const results::RunReport& report, const tasks::ModelSource& model, const Arguments& arguments,
                   Environment& environment) {
  if (wants_report(arguments, "--junit")) write_junit(arguments, environment, report::junit_suite(report));
  if (!wants_report(arguments, "--report")) return;
  report::PageFacts facts = page_facts(environment);
  facts.hint = tolerance_hint(report, arguments);
  write_page(arguments, environment,
             with_graph(report::html_page(report, facts), model, report::report_json(report), environment));
}

}  // namespace assay::cli
