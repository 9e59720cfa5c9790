#include "report/inspect/tactics.h"

#include <fmt/format.h>

#include "base/text.h"

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

}  // namespace assay::report
