#include "report/run/junit_run.h"

#include <gtest/gtest.h>

namespace assay::report {
namespace {

using results::OutputComparison;
using results::RunReport;
using results::Verdict;

OutputComparison junit_output(std::string name, double error) {
  OutputComparison output;
  output.name_a = output.name_b = std::move(name);
  output.passed = error <= 1e-5;
  output.judgements = {{.function = "simple", .passed = output.passed, .required_abs = error, .required_rel = error}};
  return output;
}

RunReport junit_report(std::vector<OutputComparison> outputs) {
  RunReport report;
  report.runs = {{.runner = "a"}, {.runner = "b"}};
  results::PairComparison pair = {.runner_a = "a", .runner_b = "b", .iterations_a = 1, .iterations_b = 1};
  pair.verdict = report.verdict = Verdict::different;
  pair.iterations = {{.outputs = std::move(outputs)}};
  report.pairs = {std::move(pair)};
  return report;
}

std::string xml_of(const RunReport& report) { return junit_xml("assay run", {junit_suite(report)}); }

size_t occurrences(std::string_view text, std::string_view word) {
  size_t found = 0;
  for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) ++found;
  return found;
}

TEST(Junit, CountsCases) {
  RunReport report = junit_report({junit_output("good", 0), junit_output("bad", 1)});
  report.pairs[0].iterations[0].missing = {"gone"};
  report.pairs[0].iterations[0].extra = {"new"};
  report.runs.push_back({.runner = "c", .failure = "it died"});
  const std::string xml = xml_of(report);
  EXPECT_NE(xml.find("tests=\"7\" failures=\"3\" errors=\"1\" skipped=\"0\""), std::string::npos) << xml;
  EXPECT_EQ(occurrences(xml, "<testcase "), 7u);
  EXPECT_EQ(occurrences(xml, "<failure "), 3u);
  EXPECT_NE(xml.find("needs abs=1 or rel=1"), std::string::npos);
  EXPECT_NE(xml.find("missing in b"), std::string::npos);
  EXPECT_NE(xml.find("<error message=\"it died\"/>"), std::string::npos);
}

TEST(Junit, UndecidedIsSkipped) {
  RunReport report = junit_report({});
  report.pairs[0].verdict = Verdict::undecided;
  const std::string xml = xml_of(report);
  EXPECT_NE(xml.find("tests=\"3\" failures=\"0\" errors=\"0\" skipped=\"1\""), std::string::npos) << xml;
}

TEST(Junit, ValidatedOutputsAreCases) {
  RunReport report;
  report.validated = {{.runner = "a", .name = "y"}, {.runner = "a", .name = "z", .nan_count = 2}};
  const std::string xml = xml_of(report);
  EXPECT_NE(xml.find("<failure message=\"2 NaN, 0 infinite\"/>"), std::string::npos);
  EXPECT_NE(xml.find("tests=\"2\" failures=\"1\""), std::string::npos);
}

// A test has the same name in every run, and the time that its work took.
TEST(Junit, NamesHaveNoTimeOfDay) {
  RunReport report = junit_report({junit_output("y", 0)});
  report.model = "m.onnx";
  report.runs = {{.runner = "onnxrt-runner-N0-11/28/26-08:58:35", .load_seconds = 0.25, .run_seconds = 0.5},
                 {.runner = "onnxrt-runner-N0-11/28/26-08:58:36"}};
  report.pairs[0].runner_a = report.runs[0].runner;
  report.pairs[0].runner_b = report.runs[1].runner;
  report.pairs[0].iterations[0].outputs[0].seconds = 0.125;
  const std::string xml = xml_of(report);
  EXPECT_NE(xml.find("<testcase classname=\"m.onnx: runs\" name=\"onnxrt-runner-N0\" time=\"0.750000\"/>"),
            std::string::npos)
      << xml;
  EXPECT_NE(xml.find("<testcase classname=\"m.onnx: onnxrt-runner-N0 vs. onnxrt-runner-N0 (2)\" name=\"y\" "
                     "time=\"0.125000\"/>"),
            std::string::npos)
      << xml;
  EXPECT_NE(xml.find("<testsuite name=\"m.onnx\" tests=\"3\" failures=\"0\" errors=\"0\" skipped=\"0\" "
                     "time=\"0.875000\">"),
            std::string::npos)
      << xml;
}

// Where the averages are what is judged, a single output that differs is no failure.
TEST(Junit, AveragesDecide) {
  RunReport report = junit_report({junit_output("y", 1)});
  report.averages = {{.runner_a = "a", .runner_b = "b", .outputs = {{.name = "y", .passed = true}}}};
  EXPECT_EQ(occurrences(xml_of(report), "<failure "), 0u);
  EXPECT_EQ(occurrences(xml_of(report), "<skipped "), 1u);
}

}  // namespace
}  // namespace assay::report
