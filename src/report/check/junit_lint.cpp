#include "report/check/junit_lint.h"

#include <map>

namespace assay::report {

JunitSuite junit_suite(const results::LintReport& report, bool warnings_fail) {
  JunitSuite suite{report.path, {}};
  std::map<std::string, size_t> places;
  for (const results::LintEntry& entry : report.entries) {
    if (entry.level == results::LintLevel::info) continue;
    const bool fails = warnings_fail || entry.level == results::LintLevel::exception;
    const std::string name = entry.node.empty() ? entry.code : entry.code + ": " + entry.node;
    const auto [place, is_new] = places.emplace(name, suite.cases.size());
    if (is_new) suite.cases.push_back({"lint", name, 0, JunitOutcome::skipped});
    JunitCase& test = suite.cases[place->second];
    test.message += (is_new ? "" : "; ") + entry.message;
    if (fails) test.outcome = JunitOutcome::failure;
  }
  if (suite.cases.empty()) suite.cases.push_back({"lint", "model"});
  for (const auto& [key, seconds] : report.timings) suite.cases.front().seconds += seconds;
  return suite;
}

}  // namespace assay::report
