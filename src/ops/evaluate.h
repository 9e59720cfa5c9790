#pragma once

#include <span>
#include <vector>

#include "ops/eval.h"
#include "ops/node_record.h"
#include "ops/resolve.h"

namespace assay::ops {

// The cost of a node: memory for its results, and steps of work: elements that it reads or writes,
// multiply-accumulates.
struct Cost {
  uint64_t bytes = 0;
  double work = 0;
};

// The limits of a run.
class Budget {
 public:
  virtual ~Budget() = default;
  // Error (limit) if there is not so much left.
  virtual void admit(const Cost& cost) = 0;
};

struct EvaluationOptions {
  bool is_wide = false;          // fp64 mode
  Budget* budget = nullptr;      // asked before anything is computed
  NodeRecord* record = nullptr;  // of a node that is evaluated more than once, always with the same attributes
  Variation variation = {};
};

// Runs one operator node on data: checks it against its schema, infers, has the cost admitted, evaluates. Left-out
// inputs are empty datums. Errors do not name the node.
std::vector<Datum> evaluate(const Node& node, const Operator& op, std::span<const Datum> inputs, BodyRunner& runner,
                            const EvaluationOptions& options);

// `datum` as fp64 mode stores it: floating tensors as float64.
Datum widen(const Datum& datum);

}  // namespace assay::ops
