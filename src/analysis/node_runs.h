#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "analysis/moved_bodies.h"
#include "analysis/moves.h"
#include "analysis/samples.h"

namespace assay::analysis {

// A node and what it takes; borrowed. What is left out has no data. Numbers may be in any type that holds them.
struct NodeInputs {
  ir::NodeId node;
  const std::vector<const Samples*>& operands;
  const std::vector<std::pair<ir::ValueId, const Samples*>>& captured;  // by its bodies

  bool are_spread() const;
  bool have_flips() const;
  bool have_steps() const;
  std::vector<tensor::Datum> of(std::optional<uint32_t> run) const;
};

// Results of a node in the run that is not moved, and in the first that are.
struct FirstRuns {
  std::vector<Samples> results;
  bool is_all = false;  // on these inputs, no run moves anything
};

// Runs one node after the other, each in all runs.
class NodeRuns {
 public:
  // The model must outlive it. Of the options, the limits count. `least_roundoff`: of the arithmetic, where less
  // precision is permitted than is declared.
  NodeRuns(const ir::Model& model, const ops::InterpreterOptions& limits, uint64_t seed, double least_roundoff = 0);

  // For what begins anew: limits of work and steps hold from here on.
  void start() { interpreter_.start(); }
  // The results in so many moved runs, which are on the account of all runs as long as somebody has them. Error where
  // the reference cannot compute them, (limit) where they do not fit.
  std::vector<Samples> run(const NodeInputs& inputs, uint32_t runs = kMovedRuns);
  // Results after one or two moved runs instead of all, of which the second goes in the opposite direction; `exact` are
  // the results that are not moved. Returns nullopt if they say nothing: operators with edges or bodies, and random
  // ones.
  std::optional<FirstRuns> run_first(const NodeInputs& inputs, const std::vector<tensor::Datum>& exact, uint32_t runs);

 private:
  using Data = std::vector<tensor::Datum>;

  // Has what was made on the account. Error (limit) where it does not fit.
  void hold(std::span<const tensor::Datum> made);
  Data call(const NodeInputs& given, std::optional<uint32_t> run, const Data& inputs,
            const ops::Variation& variation = {});
  // The moves of a node in the moved runs.
  struct Moves {
    Rounding rounding;
    uint32_t runs = kMovedRuns;
    std::vector<std::vector<float>> reaches = {};  // of its operands, where there are edges
    Draw draw = Draw::numbers;
  };
  bool has_inner(ir::NodeId node);
  bool take_products(const NodeInputs& given, const Moves& moves, const Data& inputs, const tensor::Datum& exact,
                     Samples& result);
  bool leaves_domain(const NodeInputs& inputs, const Data& exact);
  MoveKey key(ir::NodeId node, const Moves& moves, uint32_t operand);
  void take_run(const NodeInputs& given, const Moves& moves, uint32_t run, std::vector<Samples>& results);
  Data moved_inputs(const NodeInputs& given, const Moves& moves, uint32_t run);
  void take_unstepped(const NodeInputs& given, const Moves& moves, uint32_t run, const Data& stepped, Data inputs,
                      std::vector<Samples>& results);
  void find_steps(const NodeInputs& given, const Moves& moves, std::vector<Samples>& results);

  const ir::Model& model_;
  MovedBodies bodies_;
  ops::Interpreter interpreter_;
};

}  // namespace assay::analysis
