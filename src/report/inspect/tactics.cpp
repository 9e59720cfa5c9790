#include "report/inspect/tactics.h"

#include <fmt/format.h>

#include "base/text.h"
#include "report/json_parts.h"

namespace assay::report {
namespace {

// A tuple as Python prints it.
std::string tuple_text(const std::vector<std::string>& items) {
  return fmt::format("({}{})", fmt::join(items, ", "), items.size() == 1 ? "," : "");
}

std::string algorithm_text(const results::RecordedTactic& tactic) {
  return printable(fmt::format("(Implementation: {}, Tactic: {}) | Inputs: {} | Outputs: {}", tactic.implementation,
                               tactic.tactic, tuple_text(tactic.inputs), tuple_text(tactic.outputs)));
}

void write_tactic(JsonWriter& json, const results::RecordedTactic& tactic) {
  json.field("implementation", tactic.implementation);
  json.field("tactic", tactic.tactic);
  write_texts(json, "inputs", tactic.inputs);
  write_texts(json, "outputs", tactic.outputs);
}

}  // namespace

std::string tactics_text(const results::RecordedTactics& tactics) {
  if (tactics.empty()) return "No layer has a tactic";
  std::string text;
  for (const auto& [layer, tactic] : tactics) {
    text += fmt::format("{}Layer: {}\n    Algorithm: {}", text.empty() ? "" : "\n", printable(layer),
                        algorithm_text(tactic));
  }
  return text;
}

std::string tactics_json(const std::string& path, const results::RecordedTactics& tactics) {
  JsonReport report("inspect tactics");
  report.json.field("path", path);
  write_list(report.json, "layers", tactics, [](JsonWriter& json, const auto& layer) {
    json.begin_object();
    json.field("name", layer.first);
    write_tactic(json, layer.second);
    json.end_object();
  });
  return report.end({});
}

std::vector<std::string> tactic_diff_lines(const results::TacticDiff& diff) {
  if (diff.suspects.empty()) {
    return {"Could not determine potentially bad tactics. Try providing more tactic replay files if possible."};
  }
  std::vector<std::string> lines = {"Found potentially bad tactics:"};
  for (const auto& [layer, tactics] : diff.suspects) {
    std::vector<std::string> algorithms;
    for (const results::RecordedTactic& tactic : tactics) algorithms.push_back(python_string(algorithm_text(tactic)));
    lines.push_back(fmt::format("Layer: {}\n    Algorithms: [{}]", printable(layer), fmt::join(algorithms, ", ")));
  }
  return lines;
}

std::string tactic_diff_json(const results::TacticDiff& diff) {
  JsonReport report("inspect diff-tactics");
  write_texts(report.json, "good", diff.good);
  write_texts(report.json, "bad", diff.bad);
  write_texts(report.json, "skipped", diff.skipped);
  write_list(report.json, "suspects", diff.suspects, [](JsonWriter& json, const auto& suspect) {
    json.begin_object();
    json.field("layer", suspect.first);
    write_list(json, "tactics", suspect.second, [](JsonWriter& inner, const results::RecordedTactic& tactic) {
      inner.begin_object();
      write_tactic(inner, tactic);
      inner.end_object();
    });
    json.end_object();
  });
  return report.end({});
}

}  // namespace assay::report
