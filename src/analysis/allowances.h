#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>

#include "analysis/samples.h"
#include "compare/allowance.h"
#include "ir/model.h"
#include "tensor/named.h"

namespace assay::analysis {

struct AllowanceOptions {
  uint64_t max_memory_bytes = 0;  // limit of the reference; 0: its default
  uint64_t max_steps = 0;
  uint64_t max_work = 0;
  uint64_t seed = 1;
  double least_roundoff = 0;  // of a type in which a side may compute instead of the declared ones
  // Gives the value that comparisons see in place of one; null: the value itself.
  std::function<tensor::Datum(std::string_view name, const tensor::Datum& value)> post_process;
  uint32_t runs = kMovedRuns;     // fewer give allowances that are early (compare::Allowance::is_early)
  std::function<void()> on_node;  // called once for each node, in all runs; may be null
};

using Allowances = std::map<std::string, compare::Allowance, std::less<>>;

// The distances that correct computations of these values of the main graph may have when these inputs are given: the
// model is run by the reference as it is, and with roundings moved at random in so many further runs
// (docs/numerics.md). Items of sequences have the names that comparisons give them.
Allowances allowances(const ir::Model& model, const tensor::NamedData& feeds,
                      const std::set<std::string, std::less<>>& wanted, const AllowanceOptions& options);

}  // namespace assay::analysis
