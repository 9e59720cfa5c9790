#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.h"
#include "base/registered.h"
#include "ops/inference.h"
#include "ops/interpreter.h"
#include "results/lint_report.h"

namespace assay::lint {

using results::LintLevel;

// The input of all checks.
struct Subject {
  const ir::Model& model;
  const Diagnostics& load_findings;
  const ops::Inference& inference;  // has run
  const ops::Resolver& callees;
  const std::optional<std::vector<ops::InputDatum>>& inputs;  // data for every input; without it the model is not run
  ops::InterpreterOptions limits;
  bool is_sound = true;  // as a graph: it can be walked and run, whatever else is wrong
};

// Collects findings. Has a name for every node, including unnamed ones.
class Findings {
 public:
  Findings(const ir::Model& model, results::LintReport& report);

  void add(LintLevel level, std::string_view source, std::string_view code, std::string message);
  void add(LintLevel level, std::string_view source, std::string_view code, ir::NodeId node, std::string message);
  bool is_failing(ir::NodeId node) const { return failing_.contains(node); }
  // The node ran.
  void pass(ir::NodeId node) { passing_.insert(node); }
  std::string name_of(ir::NodeId node) const;
  // Sorts passing and failing nodes into the report.
  void finish();

 private:
  const ir::Model& model_;
  results::LintReport& report_;
  std::vector<std::string> names_;  // by node; generated if the model has none
  std::set<ir::NodeId> failing_;
  std::set<ir::NodeId> passing_;
};

// One kind of finding. Every src/lint/checks/<name>.cpp defines `Check check_<name>()`.
struct Check {
  std::string_view summary;  // for the manual
  int order = 0;             // lower ones report first
  void (*run)(const Subject& subject, Findings& findings) = nullptr;
};

std::span<const Registered<Check>> registered_checks();

// Sources of findings.
inline constexpr std::string_view kLoader = "onnx_loader";
inline constexpr std::string_view kChecker = "onnx_checker";
inline constexpr std::string_view kGraph = "onnx_graphsurgeon";
inline constexpr std::string_view kReference = "reference";
inline constexpr std::string_view kAnalysis = "analysis";

// Every live node of the model, bodies and functions included, in order of ids.
std::vector<ir::NodeId> all_nodes(const ir::Model& model);
// The constant that a node's operand always has; nullptr if there is none or the operand is omitted.
const tensor::Tensor* constant_operand(const Subject& subject, const ir::Node& node, uint32_t operand);

}  // namespace assay::lint
