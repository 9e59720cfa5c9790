#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/model.h"
#include "results/lint_report.h"

namespace assay::lint {

using results::LintLevel;

inline bool is_live(const ir::Node& node) { return node.alive && !node.is_outputs; }

// Takes findings. Knows the names of nodes, also of those without one.
class Findings {
 public:
  explicit Findings(const ir::Model& model);

  // Puts findings from now on into these entries.
  void set_target(std::vector<results::LintEntry>& entries) { entries_ = &entries; }
  // The entry may be completed until the next one is added.
  results::LintEntry& add(LintLevel level, std::string_view source, std::string_view code, std::string message);
  results::LintEntry& add(LintLevel level, std::string_view source, std::string_view code, ir::NodeId node,
                          std::string message);
  // The node's name, or the one that is made for it.
  std::string name_of(ir::NodeId node);
  bool is_failing(ir::NodeId node) const { return failing_[node.index]; }
  // The node ran.
  void pass(ir::NodeId node) { passing_[node.index] = true; }
  // Sorts what passed and failed into the report.
  void finish(results::LintReport& report);

 private:
  const ir::Model& model_;
  std::vector<results::LintEntry>* entries_ = nullptr;
  std::unordered_map<ir::NodeId, std::string> made_names_;  // of nodes without one; made when one is asked for
  std::vector<bool> failing_;                               // by node
  std::vector<bool> passing_;                               // by node
};

}  // namespace assay::lint
