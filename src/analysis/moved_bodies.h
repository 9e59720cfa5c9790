#pragma once

#include <optional>

#include "analysis/moves.h"
#include "ops/interpreter.h"

namespace assay::analysis {

// Moves the nodes of bodies and functions in a run; keeps the keys of all its moves.
class MovedBodies final : public ops::NodeHook {
 public:
  static constexpr uint32_t kOutput = 1U << 16;  // the first output among the operands of a key

  MovedBodies(const ir::Model& model, uint64_t seed, double least_roundoff = 0)
      : model_(model), callees_(model), seed_(seed), least_roundoff_(least_roundoff) {}

  // Nothing: the run that is not moved.
  void set_run(std::optional<uint32_t> run) { run_ = run; }
  double least_roundoff() const { return least_roundoff_; }
  bool is_call(ir::NodeId node) { return callees_[node].function != nullptr; }
  // Another one each time.
  MoveKey key(ir::NodeId node, uint32_t operand);

  std::vector<tensor::Datum> run(ir::NodeId node, std::span<const tensor::Datum> inputs, const Call& call) override;

 private:
  const ir::Model& model_;
  ops::Resolver callees_;
  uint64_t seed_;
  double least_roundoff_;
  uint64_t calls_ = 0;
  std::optional<uint32_t> run_;
};

}  // namespace assay::analysis
