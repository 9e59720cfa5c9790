#include "report/html/page.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "report/html/markup.h"
#include "report/html/output.h"
#include "report/html/table.h"
#include "report/run/text_generation.h"

namespace assay::report {

namespace {

using results::Verdict;

// A page stays below 5 MB: what is left of this many bytes goes to the sections about outputs.
constexpr size_t kMostBytes = 4'600'000;
constexpr size_t kTableBytes = 1'400'000;  // of all tables of outputs together
constexpr size_t kMostSections = 400;
constexpr size_t kMostFullPictures = 16;
constexpr size_t kMostSmallPictures = 120;
constexpr size_t kMostOpen = 3;
constexpr size_t kMostListed = 200;
constexpr size_t kLongestText = 400;

Mark mark_of(Verdict verdict) {
  if (verdict == Verdict::equal) return Mark::good;
  return verdict == Verdict::different ? Mark::bad : Mark::open;
}

std::string_view word_of(Verdict verdict) {
  if (verdict == Verdict::equal) return "PASSED";
  return verdict == Verdict::different ? "FAILED" : "UNDECIDED";
}

class Page {
 public:
  Page(const results::RunReport& report, const PageFacts& facts) : report_(report), facts_(facts) { collect(); }

  std::string text() {
    const std::string before = head() + summary() + runs() + generation();
    const std::string after = findings() + footer();
    std::string tables = pair_tables();
    const size_t used = before.size() + tables.size() + after.size();
    const std::string details = sections(kMostBytes - std::min(used, kMostBytes));
    if (section_count_ < wanted_sections()) tables = pair_tables();  // with fewer links
    return before + tables + details + after;
  }

 private:
  void collect() {
    for (const results::PairComparison& pair : report_.pairs) {
      for (const results::IterationComparison& iteration : pair.iterations) {
        for (const results::OutputComparison& output : iteration.outputs) {
          const auto op = report_.operators.find(output.name_a);
          outputs_.push_back({.output = &output,
                              .pair = &pair,
                              .iteration = iteration.index,
                              .place = static_cast<size_t>(&output - iteration.outputs.data()) + 1,
                              .op = op == report_.operators.end() ? std::string_view() : op->second,
                              .names_pair = report_.pairs.size() > 1});
        }
      }
    }
    std::ranges::stable_sort(outputs_, is_worse);
    for (size_t i = 0; i < outputs_.size(); ++i) outputs_[i].number = i;
    section_count_ = wanted_sections();
  }

  std::string head() const {
    std::string text = page_head({.kind = "run",
                                  .title = report_.model.empty() ? "Comparison of saved results" : report_.model,
                                  .badge = std::string(word_of(report_.verdict)),
                                  .mark = mark_of(report_.verdict)},
                                 facts_);
    for (const results::PairComparison& pair : report_.pairs) text += first_failure(pair);
    if (!facts_.hint.empty()) text += note(escaped(facts_.hint));
    return text;
  }

  // The line that a hunt begins with.
  std::string first_failure(const results::PairComparison& pair) const {
    if (!pair.first_failed) return {};
    const auto is_first = [&](const PageOutput& item) {
      return item.pair == &pair && !item.output->passed && item.output->name_a == *pair.first_failed;
    };
    const auto found = std::ranges::find_if(outputs_, is_first);
    if (found == outputs_.end()) return {};
    const std::string name = "<code>" + escaped_start(*pair.first_failed, kLongestText) + "</code>";
    return note(fmt::format("{} against {}: the first beyond its tolerance in the order of the graph is {}",
                            escaped_start(pair.runner_a, kLongestText), escaped_start(pair.runner_b, kLongestText),
                            found->number < section_count_ ? fmt::format("<a href=\"#o{}\">{}</a>", found->number, name)
                                                           : name),
                true);
  }

  std::string summary() const {
    uint64_t passed = 0, elements = 0;
    double worst_absolute = 0, worst_relative = 0;
    const auto raise = [](double& worst, double value) {
      if (std::isnan(value) || value > worst) worst = value;
    };
    for (const PageOutput& item : outputs_) {
      passed += item.output->passed ? 1 : 0;
      if (!item.output->metrics || item.output->metrics->count == 0) continue;
      elements += item.output->metrics->count;
      raise(worst_absolute, item.output->metrics->absolute.greatest);
      raise(worst_relative, item.output->metrics->relative.greatest);
    }
    std::string text = "<div class=\"facts\">" + fact(fmt::format("{}", report_.runs.size()), "runs");
    if (!outputs_.empty()) {
      text += fact(fmt::format("{} of {}", passed, outputs_.size()), "outputs passed") +
              fact(fmt::format("{}", elements), "elements compared") +
              fact(fmt::format("{:.4g}", worst_absolute), "max absolute difference") +
              fact(fmt::format("{:.4g}", worst_relative), "max relative difference");
    }
    for (const auto& [key, seconds] : report_.timings) {
      if (key == "total_seconds") text += fact(fmt::format("{:.3g} s", seconds), "in total");
    }
    return text + "</div>\n";
  }

  std::string runs() const {
    std::string text = "<h2>Runs</h2>\n" + runner_table(report_);
    for (const results::RunnerRun& run : report_.runs) {
      if (run.failure.empty()) continue;
      text += fmt::format("<p class=\"note fault\"><code>{}</code> failed: {}</p>\n",
                          escaped_start(run.runner, kLongestText), escaped_start(run.failure, 2 * kLongestText));
    }
    return text;
  }

  std::string generation() const {
    if (!report_.generation) return {};
    return "<h2>Generation</h2>\n" +
           note(escaped(generation_line(report_)), report_.generation->first_divergence.has_value()) +
           generation_table(report_);
  }

  std::string pair_tables() const {
    std::string text;
    for (const results::PairComparison& pair : report_.pairs) {
      if (text.size() > kTableBytes) break;
      text += pair_text(pair, kTableBytes / report_.pairs.size());
    }
    for (const results::PairAverages& averages : report_.averages) {
      if (text.size() > kTableBytes) break;
      text += "<h2>Averages over the iterations</h2>\n" + averages_table(averages);
    }
    if (!report_.validated.empty()) text += "<h2>NaN and infinity</h2>\n" + validation_table(report_.validated);
    return text;
  }

  std::string pair_text(const results::PairComparison& pair, size_t most_bytes) const {
    std::string text = fmt::format(
        "<h2>{} <span class=\"soft\">against</span> {} {}</h2>\n", escaped_start(pair.runner_a, kLongestText),
        escaped_start(pair.runner_b, kLongestText), badge(word_of(pair.verdict), mark_of(pair.verdict)));
    text += fmt::format(
        "<p class=\"soft\">{} of {} iterations passed. The second run is the reference of relative "
        "differences; the worst outputs come first.</p>\n",
        pair.passed_count, std::max(pair.iterations_a, pair.iterations_b));
    if (pair.stopped) text += "<p class=\"note\">It was ended by the first difference.</p>\n";
    if (pair.iterations_a != pair.iterations_b) {
      text += fmt::format("<p class=\"note fault\">One run has {} iterations, the other {}.</p>\n", pair.iterations_a,
                          pair.iterations_b);
    }
    text += unpaired_lists(pair);
    std::vector<PageOutput> own;
    std::ranges::copy_if(outputs_, std::back_inserter(own), [&](const PageOutput& x) { return x.pair == &pair; });
    return text + (own.empty() ? "" : output_table(own, section_count_, most_bytes));
  }

  std::string unpaired_lists(const results::PairComparison& pair) const {
    std::vector<std::string_view> missing, extra, unpaired;
    for (const results::IterationComparison& iteration : pair.iterations) {
      missing.insert(missing.end(), iteration.missing.begin(), iteration.missing.end());
      extra.insert(extra.end(), iteration.extra.begin(), iteration.extra.end());
      unpaired.insert(unpaired.end(), iteration.unpaired.begin(), iteration.unpaired.end());
    }
    return name_list(missing, "bad", "Missing in the second run") +
           name_list(extra, "bad", "Missing in the first run") +
           name_list(unpaired, "open", "Inner values without a partner");
  }

  static std::string name_list(const std::vector<std::string_view>& names, std::string_view style,
                               std::string_view caption) {
    if (names.empty()) return {};
    std::string text =
        fmt::format("<details{}><summary><span class=\"badge {}\">{}</span> {}</summary><ul class=\"names\">",
                    style == "bad" ? " open" : "", style, names.size(), caption);
    for (size_t i = 0; i < std::min(names.size(), kMostListed); ++i) {
      text += fmt::format("<li class=\"mono\">{}</li>", escaped_start(names[i], kLongestText));
    }
    if (names.size() > kMostListed) text += fmt::format("<li>and {} more</li>", names.size() - kMostListed);
    return text + "</ul></details>\n";
  }

  size_t wanted_sections() const { return std::min(outputs_.size(), kMostSections); }

  // The sections that fit: where one does not, it is tried without pictures.
  std::string sections(size_t most_bytes) {
    if (outputs_.empty()) return {};
    std::string text;
    size_t shown = 0;
    for (; shown < section_count_; ++shown) {
      const PictureDetail detail = shown < kMostFullPictures    ? PictureDetail::full
                                   : shown < kMostSmallPictures ? PictureDetail::small
                                                                : PictureDetail::none;
      std::string section = section_text(shown, detail);
      if (text.size() + section.size() > most_bytes) section = section_text(shown, PictureDetail::none);
      if (text.size() + section.size() > most_bytes) break;
      text += section;
    }
    section_count_ = shown;
    const std::string title = "<h2>Outputs</h2>\n";
    if (shown == outputs_.size()) return title + text;
    return title +
           fmt::format("<p class=\"note\">Details of the {} worst of {} outputs, failed ones first.</p>\n", shown,
                       outputs_.size()) +
           text;
  }

  std::string section_text(size_t index, PictureDetail detail) const {
    const bool is_open = outputs_.size() == 1 || (index < kMostOpen && !outputs_[index].output->passed);
    return output_section(outputs_[index], detail, is_open);
  }

  std::string findings() const {
    if (report_.findings.empty()) return {};
    std::string text = "<h2>Findings about the model</h2>\n<div class=\"card scroll\"><table><tbody>\n";
    for (size_t i = 0; i < std::min(report_.findings.size(), kMostListed); ++i) {
      const Diagnostic& finding = report_.findings[i];
      text += fmt::format("<tr><td class=\"mono soft\">{}</td><td>{}</td></tr>\n",
                          escaped_start(finding.code, kLongestText), escaped_start(finding.message, kLongestText));
    }
    text += "</tbody></table></div>\n";
    if (report_.findings.size() <= kMostListed) return text;
    return text + fmt::format("<p class=\"note\">{} more are left out.</p>\n", report_.findings.size() - kMostListed);
  }

  std::string footer() const {
    std::string timings;
    for (const auto& [key, seconds] : report_.timings) {
      timings +=
          fmt::format("{}{} {:.4g} s", timings.empty() ? "" : " · ", key.substr(0, key.find("_seconds")), seconds);
    }
    return page_foot(timings);
  }

  const results::RunReport& report_;
  const PageFacts& facts_;
  std::vector<PageOutput> outputs_;
  size_t section_count_ = 0;
};

}  // namespace

std::string html_page(const results::RunReport& report, const PageFacts& facts) { return Page(report, facts).text(); }

}  // namespace assay::report
