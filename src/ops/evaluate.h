#pragma once

#include <span>
#include <vector>

#include "ops/eval.h"
#include "ops/resolve.h"

namespace assay::ops {

struct EvaluationLimits {
  bool is_wide = false;           // fp64 mode
  uint64_t max_output_bytes = 0;  // Error (limit) before more is allocated
};

// Runs one operator node on data: checks it against its schema, infers, estimates memory, evaluates. Left-out inputs
// are empty datums. Errors do not name the node.
std::vector<Datum> evaluate(const Node& node, const Operator& op, std::span<const Datum> inputs, Runner& runner,
                            const EvaluationLimits& limits);

// `datum` as fp64 mode stores it: floating tensors as float64.
Datum widen(const Datum& datum);

}  // namespace assay::ops
