#pragma once

#include "ir/queries.h"

namespace assay::match {

// True if this node of the value's graph is its only user, in one place: then the value may go with that node.
inline bool is_only_for(const ir::Model& model, ir::ValueId value, ir::NodeId user) {
  const ir::Use* use = model[value].first_use;
  return use && !use->next && use->user == user && model[value].graph == model[user].graph;
}

// True if nothing uses the results behind the first.
inline bool is_first_result_enough(const ir::Model& model, ir::NodeId node) {
  for (uint32_t i = 1; i < model[node].results.size(); ++i) {
    const ir::ValueId value = ir::result(model, node, i);
    if (value && model[value].first_use) return false;
  }
  return ir::result(model, node).valid();
}

}  // namespace assay::match
