#include "report/run/text_generation.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/text.h"

namespace assay::report {
namespace {

using results::Generation;
using results::GenerationStep;

constexpr uint64_t kShownEdge = 4;    // steps at either end
constexpr uint64_t kShownAround = 2;  // before and after the divergence

std::string number(const std::optional<double>& value) { return value ? fmt::format("{:.3g}", *value) : "-"; }

// `past_key_values.0.key from present.0.key (name) and 23 more`, `attention_mask (mask)`.
std::string rules_text(const Generation& generation) {
  std::vector<std::string> texts;
  std::map<std::string, std::pair<size_t, std::string>> by_rule;
  std::vector<std::string> order;
  for (const results::FeedRule& feed : generation.feeds) {
    auto& [count, text] = by_rule[feed.rule];
    if (count++ > 0) continue;
    order.push_back(feed.rule);
    text = printable(feed.input) + (feed.output.empty() ? "" : " from " + printable(feed.output));
    text += fmt::format(" ({}, by {})", feed.rule, feed.origin);
  }
  for (const std::string& rule : order) {
    const auto& [count, text] = by_rule[rule];
    texts.push_back(count > 1 ? fmt::format("{} and {} more", text, count - 1) : text);
  }
  for (const std::string& name : generation.kept) texts.push_back(printable(name) + " (the same at each step)");
  return join(texts, ", ");
}

bool is_shown(const Generation& generation, uint64_t step) {
  if (step < kShownEdge || step + kShownEdge >= generation.steps.size()) return true;
  if (!generation.first_divergence) return false;
  const uint64_t at = generation.first_divergence->step;
  return step + kShownAround >= at && step <= at + kShownAround;
}

std::optional<double> worst_cache(const GenerationStep& step) {
  std::optional<double> worst;
  for (const results::StepSide& side : step.sides) {
    if (side.cache_relative && (!worst || *side.cache_relative > *worst)) worst = side.cache_relative;
  }
  return worst;
}

std::string row_text(const GenerationStep& step, const std::vector<size_t>& widths) {
  std::string text = fmt::format("{:>4} | ", step.step);
  for (size_t i = 0; i < step.token.size(); ++i) text += fmt::format("{:>{}} | ", step.token[i], widths[i]);
  if (step.sides.empty()) return text.substr(0, text.size() - 3);
  return text + fmt::format("{:<6} | {:>9} | {:>9}", step.top1_same ? "same" : "DIFFER", number(step.kl),
                            number(worst_cache(step)));
}

}  // namespace

std::vector<std::string> side_labels(const results::RunReport& report) {
  std::map<std::string, size_t> used;
  std::vector<std::string> labels;
  for (const results::RunnerRun& run : report.runs) {
    const std::string name = printable(run.runner.substr(0, run.runner.find("-runner-N")));
    const size_t before = used[name]++;
    labels.push_back(before == 0 ? name : fmt::format("{} ({})", name, before + 1));
  }
  return labels;
}

void print_generation(const results::RunReport& report, Log& log, bool is_full, std::string_view more) {
  const Generation& generation = *report.generation;
  const std::vector<std::string> labels = side_labels(report);
  log.info(fmt::format("Generation | {} token(s) of prompt, {} step(s), {} row(s), {}", generation.prompt_tokens,
                       generation.steps.size(), generation.rows,
                       generation.teacher.empty() ? "each side reads its own tokens"
                                                  : "all read the tokens of " + printable(generation.teacher)));
  const Log::Indent indent(log);
  log.info("Fed: " + rules_text(generation));
  std::vector<size_t> widths;
  std::string head = "step | ";
  for (const std::string& label : labels) {
    widths.push_back(std::max<size_t>(label.size(), 6));
    head += fmt::format("{:>{}} | ", label, widths.back());
  }
  log.info(labels.size() < 2 ? head.substr(0, head.size() - 3) : head + "top-1  |        KL | cache rel");
  uint64_t left_out = 0;
  for (const GenerationStep& step : generation.steps) {
    if (!is_full && !is_shown(generation, step.step)) {
      ++left_out;
      continue;
    }
    if (left_out > 0) log.info(fmt::format(" ... | {} steps{}", left_out, more));
    left_out = 0;
    log.info(row_text(step, widths));
  }
}

std::string generation_line(const results::RunReport& report) {
  const Generation& generation = *report.generation;
  if (!generation.first_divergence) {
    std::optional<double> worst;
    for (const GenerationStep& step : generation.steps) {
      if (step.kl && (!worst || *step.kl > *worst)) worst = step.kl;
    }
    const bool is_alone =
        std::ranges::all_of(generation.steps, [](const GenerationStep& step) { return step.sides.empty(); });
    if (is_alone) return fmt::format("{} step(s), nothing to compare with", generation.steps.size());
    return fmt::format("The same tokens in {} step(s){}", generation.steps.size(),
                       worst ? fmt::format(", greatest KL {:.3g}", *worst) : "");
  }
  const results::GenerationDivergence& first = *generation.first_divergence;
  const std::string row = generation.rows > 1 ? fmt::format(" of row {}", first.row) : "";
  return fmt::format("First divergence at step {} (position {}){}: {} chooses {}, {} chooses {} (KL {}, cache rel {})",
                     first.step, first.position, row, printable(first.runner_a), first.token_a,
                     printable(first.runner_b), first.token_b, number(first.kl), number(first.cache_relative));
}

}  // namespace assay::report
