#include "report/run/text_run.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "base/text.h"
#include "report/run/text_stats.h"

namespace assay::report {

std::string values_text(const std::vector<results::RunValue>& values, size_t most, std::string_view hint) {
  std::string text;
  for (const results::RunValue& value : std::span(values).first(std::min(most, values.size()))) {
    text += text.empty() ? "{" : ",\n ";
    text += fmt::format("{} [dtype={}", printable(value.name), value.type);
    if (value.is_tensor) text += fmt::format(", shape={}", tuple_text(value.shape));
    text += ']';
  }
  if (values.size() > most) text += fmt::format(",\n ... and {} more{}", values.size() - most, hint);
  return text.empty() ? "{}" : text + "}";
}

std::string answers_text(const std::vector<results::ValueAnswer>& answers, size_t most, std::string_view hint) {
  std::string text;
  for (const results::ValueAnswer& answer : std::span(answers).first(std::min(most, answers.size()))) {
    text += fmt::format("{}`{}`: {}", text.empty() ? "" : "\n", printable(answer.name),
                        answer.is_absent ? "absent" : "recomputed");
    if (!answer.layer.empty()) text += fmt::format(", part of layer `{}`", printable(answer.layer));
    if (!answer.reason.empty()) text += fmt::format(" ({})", printable(answer.reason));
  }
  if (answers.size() > most) text += fmt::format("\n... and {} more{}", answers.size() - most, hint);
  return text;
}

std::string assignment_text(const std::vector<results::AssignedNode>& nodes) {
  std::vector<std::pair<std::string, std::vector<std::string>>> providers;
  for (const results::AssignedNode& node : nodes) {
    auto place = std::ranges::find(providers, node.provider, &decltype(providers)::value_type::first);
    if (place == providers.end()) place = providers.insert(providers.end(), {node.provider, {}});
    const std::string name = node.node.empty() ? "" : fmt::format(" `{}`", printable(node.node));
    place->second.push_back(fmt::format("\n    {}{}", printable(node.op), name));
  }
  std::string text;
  for (const auto& [provider, lines] : providers) {
    text +=
        fmt::format("{}{}: {} node(s){}", text.empty() ? "" : "\n", printable(provider), lines.size(), join(lines, ""));
  }
  return text;
}

}  // namespace assay::report
