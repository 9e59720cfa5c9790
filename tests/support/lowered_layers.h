#pragma once

#include "engine/lowering/lower.h"
#include "support/parsed_model.h"

namespace assay::testing_support {

// The operators of a model that is lowered by these rules, as layers are called.
inline std::vector<std::string> lowered_layers(const std::string& text, const engine::LoweringRules& rules) {
  ir::Model model = parsed(text);
  ir::Rewriter rewriter(model);
  engine::lower(model, rewriter, {.rules = rules});
  std::vector<std::string> names;
  for (const ir::NodeId node : ir::nodes(model, model.main_graph())) {
    names.emplace_back(model.text(model[node].op));
    names.back() = names.back().substr(0, names.back().find_last_of('_'));
  }
  return names;
}

}  // namespace assay::testing_support
