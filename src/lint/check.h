#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/diagnostics.h"
#include "base/registered.h"
#include "lint/findings.h"
#include "lint/lint.h"
#include "ops/inference.h"
#include "ops/interpreter.h"

namespace assay::lint {

// The subject of checks.
struct Subject {
  const ir::Model& model;
  const Diagnostics& load_findings;
  const ops::Inference& inference;  // has run
  const ops::Resolver& callees;
  const std::optional<RunInputs>& inputs;  // without them the model is not run
  ops::InterpreterOptions limits;
  bool is_sound = true;  // result of is_sound()
};

// A look of a check at parts of the model. One walk over the model serves the looks of all checks.
struct Look {
  void (*at_value)(const Subject& subject, ir::ValueId value, Findings& findings) = nullptr;  // each live one, by id
  // Each live one, bodies and functions included, by id.
  void (*at_node)(const Subject& subject, ir::NodeId node, Findings& findings) = nullptr;
  std::vector<std::string_view> ops = {};  // set: at_node is for nodes of these operators only
  // Once, behind the walk, in the order of the checks.
  void (*at_model)(const Subject& subject, Findings& findings) = nullptr;
};

// One kind of finding. Every src/lint/checks/<name>.cpp defines `Check check_<name>()`. What a look finds is reported
// behind what the looks before it have found.
struct Check {
  std::string_view summary;  // for the manual
  int order = 0;             // lower ones report first
  std::vector<Look> looks;
};

std::span<const Registered<Check>> registered_checks();

// Sources of findings.
inline constexpr std::string_view kLoader = "onnx_loader";
inline constexpr std::string_view kChecker = "onnx_checker";
inline constexpr std::string_view kGraph = "onnx_graphsurgeon";
inline constexpr std::string_view kReference = "reference";
inline constexpr std::string_view kAnalysis = "analysis";

// The constant that a node's operand always has; nullptr if there is none, or it is left out.
const tensor::Tensor* constant_operand(const Subject& subject, const ir::Node& node, uint32_t operand);

}  // namespace assay::lint
