#include "report/junit.h"

#include <fmt/format.h>

#include "report/html/markup.h"

namespace assay::report {
namespace {

struct Counts {
  uint64_t tests = 0;
  uint64_t failures = 0;
  uint64_t errors = 0;
  uint64_t skipped = 0;
  double seconds = 0;

  void add(const JunitCase& test) {
    ++tests;
    failures += test.outcome == JunitOutcome::failure ? 1 : 0;
    errors += test.outcome == JunitOutcome::error ? 1 : 0;
    skipped += test.outcome == JunitOutcome::skipped ? 1 : 0;
    seconds += test.seconds;
  }

  std::string attributes() const {
    return fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{:.6f}\"", tests, failures,
                       errors, skipped, seconds);
  }
};

std::string_view element(JunitOutcome outcome) {
  if (outcome == JunitOutcome::failure) return "failure";
  return outcome == JunitOutcome::error ? "error" : "skipped";
}

std::string case_text(const JunitSuite& suite, const JunitCase& test) {
  const std::string group = test.group.empty() ? suite.name : suite.name + ": " + test.group;
  std::string text = fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"{:.6f}\"", escaped(group),
                                 escaped(test.name), test.seconds);
  if (test.outcome == JunitOutcome::passed) return text + "/>\n";
  return text +
         fmt::format(">\n      <{} message=\"{}\"/>\n    </testcase>\n", element(test.outcome), escaped(test.message));
}

}  // namespace

std::string junit_xml(std::string_view title, const std::vector<JunitSuite>& suites) {
  Counts all;
  std::string text;
  for (const JunitSuite& suite : suites) {
    Counts counts;
    std::string cases;
    for (const JunitCase& test : suite.cases) {
      counts.add(test);
      all.add(test);
      cases += case_text(suite, test);
    }
    text += fmt::format("  <testsuite name=\"{}\" {}>\n{}  </testsuite>\n", escaped(suite.name), counts.attributes(),
                        cases);
  }
  return fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"{}\" {}>\n{}</testsuites>\n",
                     escaped(title), all.attributes(), text);
}

}  // namespace assay::report
