#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/feedback.h"

namespace assay::analysis {

struct CachePair {
  const exec::Port* output;
  const exec::Port* input;
  std::string_view origin;  // a word of results::FeedRule::origin
};

struct CachePairs {
  std::vector<CachePair> found;  // in the order of the inputs
  size_t by_order = 0;           // pairs by types and shapes alone
};

// Outputs and the inputs that they become: those given by hand, then where an input goes into the node that gives the
// output (Concat, TensorScatter, Attention), then equal names but for `past`, `present` and the like, then equal
// shapes in order, where as many of either are left.
CachePairs pair_caches(const ir::Model& model, const std::vector<const exec::Port*>& outputs,
                       const std::vector<const exec::Port*>& inputs,
                       const std::vector<std::pair<std::string, std::string>>& given);

// The dim of positions of a cache, and whether it grows; `rows`: the name of the batch's dim. Nullopt: it grows, and
// it cannot be told where.
std::optional<CacheFeed> cache_feed(const ir::Model& model, const exec::Port& output, const exec::Port& input,
                                    std::string_view rows);

// True if the one can become the other by type and rank, and by the dims that both fix.
bool may_become(const exec::Port& output, const exec::Port& input);
// True if a name speaks of a cache, past or present.
bool looks_like_cache(const exec::Port& port);
// Inputs of the main graph that say where TensorScatter writes.
std::set<std::string> write_indices(const ir::Model& model);

}  // namespace assay::analysis
