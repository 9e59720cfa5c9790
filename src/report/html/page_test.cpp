#include "report/html/page.h"

#include <cmath>

#include <gtest/gtest.h>

#include "report/html/markup.h"

namespace assay::report {
namespace {

using results::OutputComparison;
using results::RunReport;
using results::Verdict;

results::TensorStats stats_of(double greatest) {
  results::TensorStats stats = {.count = 4, .mean = greatest / 2, .greatest = greatest, .greatest_at = {1}};
  stats.percentiles = results::Percentiles();
  stats.histogram = results::Histogram{{0, greatest / 2, greatest}, {3, 1}};
  return stats;
}

OutputComparison output_of(std::string name, double error) {
  OutputComparison output;
  output.name_a = output.name_b = std::move(name);
  output.dtype_a = output.dtype_b = "float32";
  output.shape_a = output.shape_b = {2, 2};
  output.passed = error <= 1e-5;
  output.metrics = results::PairMetrics{
      .count = 4, .a = stats_of(1), .b = stats_of(2), .absolute = stats_of(error), .relative = stats_of(error)};
  output.judgements = {{.function = "simple",
                        .passed = output.passed,
                        .statistic = "elemwise",
                        .atol = 1e-5,
                        .rtol = 1e-5,
                        .required_abs = error,
                        .required_rel = error}};
  return output;
}

RunReport report_of(std::vector<OutputComparison> outputs) {
  RunReport report;
  report.model = "m.onnx";
  report.runs = {{.runner = "a", .iterations = 1}, {.runner = "b", .iterations = 1}};
  results::PairComparison pair = {.runner_a = "a", .runner_b = "b", .iterations_a = 1, .iterations_b = 1};
  pair.verdict = report.verdict = Verdict::different;
  pair.iterations = {{.outputs = std::move(outputs)}};
  report.pairs = {std::move(pair)};
  return report;
}

results::HeatMap noise(uint32_t size) {
  results::HeatMap map = {size, size, std::vector<float>(uint64_t{size} * size)};
  for (size_t i = 0; i < map.cells.size(); ++i) map.cells[i] = static_cast<float>(i * 2654435761U % 65536U);
  return map;
}

size_t count(std::string_view text, std::string_view word) {
  size_t found = 0;
  for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) ++found;
  return found;
}

TEST(Markup, MakesAnyTextHarmless) {
  EXPECT_EQ(escaped("<script>&\"'"), "&lt;script&gt;&amp;&quot;&#39;");
  EXPECT_EQ(escaped(std::string_view("a\0\x01\xff\n", 5)), "a\\x00\\x01\\xff ");
  EXPECT_EQ(escaped("\xEF\xBF\xBF!"), "\xEF\xBF\xBD!");
  EXPECT_EQ(escaped_start("äöü", 3), "ä…");
}

TEST(HtmlPage, NamesAreText) {
  const std::string page = html_page(report_of({output_of("<script>alert(1)</script>", 1)}), {"1", "<b>"});
  EXPECT_EQ(page.find("<script>alert"), std::string::npos);
  EXPECT_NE(page.find("&lt;script&gt;alert"), std::string::npos);
  EXPECT_EQ(count(page, "<script>"), 1u);
}

TEST(HtmlPage, BeginsWithTheFirstBeyondItsTolerance) {
  RunReport report = report_of({output_of("good", 1e-6), output_of("first", 1), output_of("worst", 9)});
  report.pairs[0].first_failed = "first";
  const std::string page = html_page(report, {.version = "1", .command = "c", .hint = "try <this>"});
  const size_t line = page.find("in the order of the graph is <a href=\"#o1\"><code>first</code></a>");
  EXPECT_LT(line, page.find("try &lt;this&gt;"));
  EXPECT_LT(page.find("try &lt;this&gt;"), page.find("<h2>"));
  EXPECT_NE(page.find("<tr class=\"failed\"><td class=\"number\">2</td>"), std::string::npos);
}

TEST(HtmlPage, NamesOperatorsWhereTheyAreKnown) {
  RunReport report = report_of({output_of("a", 1), output_of("<b>", 2)});
  EXPECT_EQ(html_page(report, {}).find("<th>operator</th>"), std::string::npos);
  report.operators["<b>"] = "Conv";
  const std::string page = html_page(report, {});
  EXPECT_NE(page.find("<th>operator</th>"), std::string::npos);
  EXPECT_NE(page.find("&lt;b&gt;</a></td><td class=\"soft\">Conv</td>"), std::string::npos);
  EXPECT_NE(page.find("#o1\">a</a></td><td class=\"soft\"></td>"), std::string::npos);
}

TEST(HtmlPage, NamesThePairOfASectionWhereThereAreSeveral) {
  RunReport report = report_of({output_of("y", 1)});
  const std::string_view words = "<b class=\"mono\">y</b><span class=\"soft\">a against b</span>";
  EXPECT_EQ(html_page(report, {}).find(words), std::string::npos);
  report.pairs.push_back(report.pairs[0]);
  EXPECT_NE(html_page(report, {}).find(words), std::string::npos);
}

TEST(HtmlPage, UndecidedIsNoFailure) {
  OutputComparison output = output_of("y", 1);
  output.fault = "undecided";
  const std::string page = html_page(report_of({std::move(output)}), {});
  EXPECT_EQ(count(page, "<span class=\"badge open\">UNDECIDED</span>"), 2u);
}

TEST(HtmlPage, PutsTheWorstFirst) {
  const std::string page =
      html_page(report_of({output_of("good", 1e-6), output_of("bad", 1), output_of("nan", NAN)}), {});
  const size_t nan = page.find("#o0\">nan</a>");
  EXPECT_NE(nan, std::string::npos);
  EXPECT_NE(page.find("#o1\">bad</a>", nan), std::string::npos);
  EXPECT_NE(page.find("#o2\">good</a>", nan), std::string::npos);
}

TEST(HtmlPage, StaysSmallWhateverItShows) {
  constexpr size_t kOutputs = 2000, kLimit = 5'000'000;
  std::vector<OutputComparison> outputs;
  for (size_t i = 0; i < kOutputs; ++i) {
    OutputComparison output = output_of(std::string(2000, '&'), static_cast<double>(i));
    output.maps = results::OutputMaps{{noise(64), noise(64), true}, {}};
    if (i + 40 > kOutputs) output.maps->large = {noise(320), noise(320), true};  // those that are worst
    outputs.push_back(std::move(output));
  }
  RunReport report = report_of(std::move(outputs));
  report.pairs[0].iterations[0].missing.assign(kOutputs, std::string(2000, '"'));
  const std::string page = html_page(report, {});
  EXPECT_LT(page.size(), kLimit);
  EXPECT_GT(page.size(), kLimit / 2);
  EXPECT_NE(page.find("worst of 2000 outputs"), std::string::npos);
  EXPECT_EQ(count(page, "<a href=\"#o"), count(page, "<details class=\"output\""));
}

TEST(HtmlPage, TakesReportsWithoutOutputs) {
  RunReport report = report_of({});
  report.verdict = Verdict::undecided;
  report.runs[0].failure = "it <died>";
  const std::string page = html_page(report, {});
  EXPECT_NE(page.find("UNDECIDED"), std::string::npos);
  EXPECT_NE(page.find("it &lt;died&gt;"), std::string::npos);
  EXPECT_FALSE(html_page(RunReport(), {}).empty());
}

}  // namespace
}  // namespace assay::report
