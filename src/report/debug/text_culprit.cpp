#include "report/debug/text_culprit.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"

namespace assay::report {
namespace {

std::string error_text(const results::LayerVerdict& error) {
  return fmt::format("introduced {:.4g}, inherited {:.4g}, may introduce {:.4g}", error.introduced, error.inherited,
                     error.tolerance);
}

// The cause of a culprit, also of an inner one.
std::string cause_text(const auto& culprit) {
  return culprit.reason.empty() ? "" : fmt::format("; {}: {}", culprit.cause, culprit.reason);
}

std::string group_text(const results::Culprit& culprit) {
  const results::LayerVerdict& error = culprit.error;
  if (error.group.empty()) return {};
  constexpr size_t kMost = 6;
  std::vector<std::string> shown;
  for (size_t i = 0; i < std::min(error.group.size(), kMost); ++i) shown.push_back(printable(error.group[i]));
  const std::string more = error.group.size() > kMost ? fmt::format(" and {} more", error.group.size() - kMost) : "";
  const std::string_view opening =
      culprit.cause == "unknown" ? "not shown" : "or a layer before it that this side does not show";
  return fmt::format("; {}: {}{}", opening, join(shown, ", "), more);
}

// `first guilty layer`, and for those of a backend that deviates in both models, that.
std::string opening(const results::Culprit& culprit, bool is_first) {
  const std::string_view word = is_first ? "first guilty layer" : "also guilty";
  if (!culprit.is_in_both) return std::string(word);
  return fmt::format("{}, in both models", word);
}

}  // namespace

std::vector<std::string> side_lines(const results::AccuracyHunt& hunt) {
  std::vector<std::string> lines;
  for (const results::AccuracySide& side : hunt.sides) {
    std::string line = fmt::format("{} | values: {} | error of the outputs: {:.4g} (of {:.4g})", printable(side.name),
                                   side.given_count, side.output_error, side.output_magnitude);
    if (side.probe_effect && *side.probe_effect > 0) {
      line += fmt::format(" | the outputs move by {:.4g} when nothing else is asked for", *side.probe_effect);
    }
    if (side.is_deterministic == false) line += " | a second run gives other bits";
    lines.push_back(std::move(line));
  }
  if (!hunt.matches) return lines;
  lines.push_back(fmt::format("values that correspond: {} by name, {} by what they compute; without a counterpart: {}",
                              hunt.matches->by_name, hunt.matches->by_structure, hunt.matches->unmatched.size()));
  return lines;
}

std::vector<std::string> culprit_lines(const results::AccuracyHunt& hunt, size_t most) {
  std::vector<std::string> lines;
  for (size_t i = 0; i < std::min(hunt.culprits.size(), most); ++i) {
    const results::Culprit& culprit = hunt.culprits[i];
    const results::LayerVerdict& error = culprit.error;
    lines.push_back(fmt::format("{}: `{}` ({}) of {}: {}{}{}", opening(culprit, i == 0), printable(error.node),
                                printable(error.op), printable(error.side), error_text(error), cause_text(culprit),
                                group_text(culprit)));
    if (error.value != error.node) lines.push_back(fmt::format("    its value is `{}`", printable(error.value)));
    if (culprit.inner) {
      const results::LayerVerdict& inner = culprit.inner->error;
      lines.push_back(fmt::format("    within it `{}` ({}): {}{}", printable(inner.node), printable(inner.op),
                                  error_text(inner), cause_text(*culprit.inner)));
    }
    if (culprit.share_of_output) {
      lines.push_back(fmt::format("    alone it moves the outputs by {:.4g}", *culprit.share_of_output));
    }
  }
  if (hunt.culprits.size() > most) lines.push_back(fmt::format("and {} more", hunt.culprits.size() - most));
  return lines;
}

std::vector<std::string> harmless_lines(const results::AccuracyHunt& hunt, size_t most) {
  std::vector<std::string> lines;
  for (size_t i = 0; i < std::min(hunt.harmless.size(), most); ++i) {
    const results::Culprit& culprit = hunt.harmless[i];
    lines.push_back(fmt::format("does not reach the outputs: `{}` ({}) of {}: {}: {}", printable(culprit.error.node),
                                printable(culprit.error.op), printable(culprit.error.side), culprit.cause,
                                culprit.reason));
  }
  if (hunt.harmless.size() > most) lines.push_back(fmt::format("and {} more", hunt.harmless.size() - most));
  return lines;
}

std::vector<std::string> layer_lines(const results::AccuracyHunt& hunt, size_t most) {
  std::vector<const results::LayerVerdict*> worst;
  for (const results::LayerVerdict& layer : hunt.layers) worst.push_back(&layer);
  std::ranges::stable_sort(worst, [](const auto* a, const auto* b) { return a->excess > b->excess; });
  std::vector<std::string> lines;
  for (size_t i = 0; i < std::min(worst.size(), most); ++i) {
    lines.push_back(fmt::format("    {} | `{}` ({}) | {} | {:.3g} of what it may", printable(worst[i]->side),
                                printable(worst[i]->node), printable(worst[i]->op), error_text(*worst[i]),
                                worst[i]->excess));
  }
  return lines;
}

std::vector<std::string> cost_lines(const results::AccuracyHunt& hunt) {
  std::vector<std::string> lines;
  if (!hunt.is_quantized) return lines;
  lines.emplace_back("Layers by what int8 costs the outputs:");
  for (const results::LayerCost& cost : hunt.costs) {
    const std::string alone = cost.output_error ? fmt::format("{:.4g}", *cost.output_error) : "unknown";
    lines.push_back(
        fmt::format("    `{}` ({}) | introduced {:.3g} of its result | error of the outputs by it alone: {}",
                    printable(cost.node), printable(cost.op), cost.introduced, alone));
  }
  return lines;
}

}  // namespace assay::report
