#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/text.h"
#include "ir/verify.h"
#include "onnx/text.h"
#include "passes/pipelines.h"
#include "support/inference_checks.h"
#include "support/origin_checks.h"
#include "support/parsed_model.h"

namespace assay::testing_support {

// The nodes of the main graph as text: `a = Relu (x); y = Add (a, w)`.
inline std::string nodes_text(const ir::Model& model) {
  const std::string whole = onnx::to_text(model);
  std::string text;
  bool is_inside = false;
  for (const std::string_view line : split(whole, '\n')) {
    if (line == "}") break;
    if (is_inside) text += (text.empty() ? "" : "; ") + std::string(line.substr(line.find_first_not_of(' ')));
    is_inside = is_inside || line.ends_with("{");
  }
  return text;
}

struct Rewritten {
  std::string nodes;
  uint64_t steps = 0;
  std::vector<std::string> skipped;
  std::string text;  // of the whole model
};

// What a pass makes of a model. The model must be sound afterwards, no new node stands for itself, and a second run
// must change nothing. What was inferred and kept is what is inferred anew.
inline Rewritten rewritten(std::string_view pass, std::string text, const passes::Options& options = {}) {
  ir::Model model = parsed(std::move(text));
  const uint32_t first_made = model.node_slots();
  ir::Rewriter rewriter(model);
  ops::LiveInference kept(rewriter.edit());
  kept.now();
  passes::Pipeline pipeline(model, rewriter, options);
  Rewritten outcome;
  outcome.steps = pipeline.run({&pass, 1});
  for (const passes::Skipped& skipped : pipeline.skipped()) outcome.skipped.push_back(skipped.reason);
  ir::check_structure(model);
  ASSAY_CHECK(own_origins(model, first_made).empty());
  ASSAY_CHECK(inference_fault(model, kept.now()).empty());
  Diagnostics findings;
  ir::verify(model, findings);
  ASSAY_CHECK(findings.empty());
  outcome.nodes = nodes_text(model);
  outcome.text = onnx::to_text(model);
  ASSAY_CHECK(pipeline.run({&pass, 1}) == 0);
  return outcome;
}

inline std::string nodes_after(std::string_view pass, std::string text) {
  return rewritten(pass, std::move(text)).nodes;
}

}  // namespace assay::testing_support
