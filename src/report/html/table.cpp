#include "report/html/table.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "report/html/markup.h"
#include "report/run/text_generation.h"
#include "report/run/text_judgement.h"
#include "report/run/text_stats.h"

namespace assay::report {
namespace {

constexpr size_t kLongestName = 160;
constexpr size_t kMostRows = 300;  // of tables that are not about differences

std::string number_cell(std::string_view text) { return fmt::format("<td class=\"number\">{}</td>", text); }

std::string short_number(double value) { return std::isnan(value) ? "nan" : fmt::format("{:.4g}", value); }

// The greatest finite difference: the end of the bars.
double greatest_error(const std::vector<PageOutput>& outputs) {
  double greatest = 0;
  for (const PageOutput& item : outputs) {
    if (!item.output->metrics) continue;
    const double error = item.output->metrics->absolute.greatest;
    if (std::isfinite(error)) greatest = std::max(greatest, error);
  }
  return greatest;
}

// Percent, on a logarithmic scale of eight decades.
double bar_length(double error, double greatest) {
  constexpr double kDecades = 8;
  if (error == 0 || greatest == 0) return 0;
  if (!std::isfinite(error)) return 100;
  return std::clamp(100 * (1 + std::log10(error / greatest) / kDecades), 1.0, 100.0);
}

std::string metric_cells(const results::OutputComparison& output, double greatest) {
  constexpr size_t kCells = 6;
  std::string text;
  if (!output.metrics || output.dtype_a == "string") {
    for (size_t i = 0; i < kCells; ++i) text += number_cell("–");
    return text;
  }
  const results::PairMetrics& metrics = *output.metrics;
  text += fmt::format("<td class=\"number bar\">{}<i style=\"width:calc({:.0f}% - 12px)\"></i></td>",
                      short_number(metrics.absolute.greatest), bar_length(metrics.absolute.greatest, greatest));
  const bool has_ulp = metrics.max_ulp != std::numeric_limits<uint64_t>::max();
  return text + number_cell(short_number(metrics.relative.greatest)) +
         number_cell(short_number(metrics.absolute.mean)) +
         number_cell(has_ulp ? fmt::format("{}", metrics.max_ulp) : "inf") +
         number_cell(short_number(std::max(0.0, 1 - metrics.cosine))) +
         number_cell(fmt::format("{}", metrics.failed_count));
}

// Columns that only some tables have.
struct Columns {
  bool iteration = false;
  bool op = false;
};

Columns columns_of(const std::vector<PageOutput>& outputs) {
  return {.iteration = outputs.front().pair->iterations.size() > 1,
          .op = std::ranges::any_of(outputs, [](const PageOutput& item) { return !item.op.empty(); })};
}

std::string output_row(const PageOutput& item, double greatest, Columns columns, bool has_section) {
  const results::OutputComparison& output = *item.output;
  const std::string name = escaped_start(output.name_a, kLongestName);
  std::string text = fmt::format("<tr{}>{}<td class=\"name mono\">", output.passed ? "" : " class=\"failed\"",
                                 number_cell(fmt::format("{}", item.place)));
  text += has_section ? fmt::format("<a href=\"#o{}\">{}</a></td>", item.number, name) : name + "</td>";
  if (columns.op) text += fmt::format("<td class=\"soft\">{}</td>", escaped(item.op));
  if (columns.iteration) text += number_cell(fmt::format("{}", item.iteration));
  text += fmt::format("<td class=\"soft\">{} {}</td>", escaped(output.dtype_a), shape_text(output.shape_a));
  return text + metric_cells(output, greatest) + fmt::format("<td>{}</td></tr>\n", verdict_badge(output));
}

std::string table_head(Columns columns) {
  std::string text = "<thead><tr><th class=\"number\">#</th><th>output</th>";
  if (columns.op) text += "<th>operator</th>";
  if (columns.iteration) text += "<th class=\"number\">iteration</th>";
  text += "<th>type and shape</th>";
  for (const std::string_view word : {"max abs", "max rel", "mean abs", "max ULP", "cosine distance", "beyond"}) {
    text += fmt::format("<th class=\"number\">{}</th>", word);
  }
  return text + "<th>verdict</th></tr></thead>";
}

constexpr std::string_view kTools =
    "<div class=\"tools\" hidden><input type=\"search\" placeholder=\"Filter by name\" aria-label=\"Filter by name\">"
    "<label><input type=\"checkbox\"> failed only</label></div>";

std::string runner_row(const results::RunnerRun& run, double longest_seconds) {
  std::string text =
      fmt::format("<tr{}><td class=\"name mono\">{}</td>", run.failure.empty() ? "" : " class=\"failed\"",
                  escaped_start(run.runner, kLongestName));
  text += number_cell(fmt::format("{}", run.iterations)) + number_cell(fmt::format("{}", run.outputs.size()));
  if (!run.is_live) return text + number_cell("–") + number_cell("–") + "<td class=\"soft\">saved results</td></tr>\n";
  text += number_cell(fmt::format("{:.4g} ms", run.load_seconds * 1e3));
  const double each = run.iterations > 0 ? run.run_seconds / static_cast<double>(run.iterations) : 0;
  text += fmt::format("<td class=\"number bar\">{:.4g} ms<i style=\"width:calc({:.0f}% - 12px)\"></i></td>", each * 1e3,
                      longest_seconds > 0 ? 100 * each / longest_seconds : 0);
  return text + (run.failure.empty() ? "<td class=\"soft\">ran</td></tr>\n"
                                     : "<td><span class=\"badge bad\">ERROR</span></td></tr>\n");
}

}  // namespace

std::string output_table(const std::vector<PageOutput>& outputs, size_t sections, size_t most_bytes) {
  const double greatest = greatest_error(outputs);
  std::string text = fmt::format("<div class=\"card\">{}<div class=\"scroll\"><table class=\"sortable\">", kTools);
  const Columns columns = columns_of(outputs);
  text += table_head(columns) + "<tbody>\n";
  size_t shown = 0;
  for (; shown < outputs.size() && text.size() < most_bytes; ++shown) {
    text += output_row(outputs[shown], greatest, columns, outputs[shown].number < sections);
  }
  text += "</tbody></table></div></div>\n";
  if (shown == outputs.size()) return text;
  return text + fmt::format(
                    "<p class=\"note\">{} further outputs, none of them worse, are left out of this table; "
                    "the JSON report has all of them.</p>\n",
                    outputs.size() - shown);
}

std::string runner_table(const results::RunReport& report) {
  double longest = 0;
  for (const results::RunnerRun& run : report.runs) {
    if (run.iterations > 0) longest = std::max(longest, run.run_seconds / static_cast<double>(run.iterations));
  }
  std::string text =
      "<div class=\"card scroll\"><table><thead><tr><th>run</th><th class=\"number\">iterations</th>"
      "<th class=\"number\">outputs</th><th class=\"number\">load</th><th class=\"number\">average run</th><th></th>"
      "</tr></thead><tbody>\n";
  for (size_t i = 0; i < std::min(report.runs.size(), kMostRows); ++i) text += runner_row(report.runs[i], longest);
  return text + "</tbody></table></div>\n";
}

std::string validation_table(const std::vector<results::ValidatedOutput>& validated) {
  std::vector<const results::ValidatedOutput*> rows;
  for (const results::ValidatedOutput& output : validated) rows.push_back(&output);
  std::ranges::stable_sort(rows, std::ranges::greater(), [](const results::ValidatedOutput* output) {
    return output->nan_count + output->inf_count;
  });
  std::string text =
      "<div class=\"card scroll\"><table><thead><tr><th>output</th><th>run</th><th class=\"number\">iteration</th>"
      "<th class=\"number\">NaN</th><th class=\"number\">infinite</th><th>first at</th><th>verdict</th></tr></thead>"
      "<tbody>\n";
  for (size_t i = 0; i < std::min(rows.size(), kMostRows); ++i) {
    const results::ValidatedOutput& output = *rows[i];
    const std::optional<std::vector<int64_t>>& first = output.first_nan_at ? output.first_nan_at : output.first_inf_at;
    text += fmt::format("<tr><td class=\"name mono\">{}</td><td class=\"name\">{}</td>",
                        escaped_start(output.name, kLongestName), escaped_start(output.runner, kLongestName)) +
            number_cell(fmt::format("{}", output.iteration)) + number_cell(fmt::format("{}", output.nan_count)) +
            number_cell(fmt::format("{}", output.inf_count)) +
            fmt::format("<td>{}</td><td>{}</td></tr>\n", first ? tuple_text(*first) : "–",
                        verdict_badge(output.nan_count + output.inf_count == 0));
  }
  text += "</tbody></table></div>\n";
  if (rows.size() > kMostRows)
    text += fmt::format("<p class=\"note\">{} more are left out.</p>", rows.size() - kMostRows);
  return text;
}

std::string averages_table(const results::PairAverages& averages) {
  std::string text =
      "<div class=\"card scroll\"><table><thead><tr><th>output</th><th>average over the iterations</th><th>verdict</th>"
      "</tr></thead><tbody>\n";
  const size_t shown = std::min(averages.outputs.size(), kMostRows);
  for (size_t i = 0; i < shown; ++i) {
    const results::AveragedOutput& output = averages.outputs[i];
    std::string lines;
    for (const results::Judgement& judgement : output.judgements) {
      lines += (lines.empty() ? "" : "<br>") + escaped_start(judgement_line(judgement), 2 * kLongestName);
    }
    text += fmt::format("<tr><td class=\"name mono\">{}</td><td>{}</td><td>{}</td></tr>\n",
                        escaped_start(output.name, kLongestName), lines, verdict_badge(output.passed));
  }
  text += "</tbody></table></div>\n";
  if (shown == averages.outputs.size()) return text;
  return text + fmt::format("<p class=\"note\">{} more are left out.</p>", averages.outputs.size() - shown);
}

std::string generation_table(const results::RunReport& report) {
  std::string text = "<div class=\"card scroll\"><table><thead><tr><th>step</th>";
  for (const std::string& label : side_labels(report)) text += fmt::format("<th>{}</th>", escaped(label));
  text += "<th>KL</th><th>error in the cache</th><th>top-1</th></tr></thead><tbody>\n";
  const std::vector<results::GenerationStep>& steps = report.generation->steps;
  const size_t shown = std::min(steps.size(), kMostRows);
  const auto number = [](const std::optional<double>& value) { return value ? fmt::format("{:.4g}", *value) : ""; };
  for (size_t i = 0; i < shown; ++i) {
    const results::GenerationStep& step = steps[i];
    text += fmt::format("<tr><td>{}</td>", step.step);
    for (const int64_t token : step.token) text += fmt::format("<td class=\"mono\">{}</td>", token);
    std::string caches;
    for (const results::StepSide& side : step.sides)
      caches += (caches.empty() ? "" : "<br>") + number(side.cache_relative);
    text += fmt::format("<td>{}</td><td>{}</td><td>{}</td></tr>\n", number(step.kl), caches,
                        step.sides.empty() ? "" : verdict_badge(step.top1_same));
  }
  text += "</tbody></table></div>\n";
  if (shown == steps.size()) return text;
  return text + fmt::format("<p class=\"note\">{} more are left out.</p>", steps.size() - shown);
}

}  // namespace assay::report
