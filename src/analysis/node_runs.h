#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "analysis/moved_bodies.h"
#include "analysis/samples.h"

namespace assay::analysis {

// A node and what it takes; borrowed. What is left out has no data. Numbers may be in any type that holds them.
struct NodeInputs {
  ir::NodeId node;
  const std::vector<const Samples*>& operands;
  const std::vector<std::pair<ir::ValueId, const Samples*>>& captured;  // by its bodies

  bool are_spread() const;
  bool have_flips() const;
  std::vector<tensor::Datum> of(std::optional<uint32_t> run) const;
};

// Runs one node after the other, each in all runs.
class NodeRuns {
 public:
  // The model must outlive it. Of the options, the limits count. `least_roundoff`: of the arithmetic, where less
  // precision is permitted than is declared.
  NodeRuns(const ir::Model& model, const ops::InterpreterOptions& limits, uint64_t seed, double least_roundoff = 0);

  // The results; Error where the reference cannot compute them.
  std::vector<Samples> run(const NodeInputs& inputs);

 private:
  using Data = std::vector<tensor::Datum>;

  Data call(const NodeInputs& given, std::optional<uint32_t> run, const Data& inputs);
  // What is done to a node in the moved runs.
  struct Moves {
    Rounding rounding;
    std::vector<std::vector<float>> reaches;  // of its operands, where there are edges
  };
  void take_run(const NodeInputs& given, const Moves& moves, uint32_t run, std::vector<Samples>& results);
  void find_steps(const NodeInputs& given, const Moves& moves, std::vector<Samples>& results);

  const ir::Model& model_;
  MovedBodies bodies_;
  ops::Interpreter interpreter_;
};

}  // namespace assay::analysis
