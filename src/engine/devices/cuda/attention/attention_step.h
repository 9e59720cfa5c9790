#pragma once

#include "engine/devices/cuda/attention/attention_operands.h"
#include "engine/devices/cuda/attention/step_shape.h"

namespace assay::engine::cuda {

// Attention of few queries, which keeps caches in the same launch, as it reads them.
class AttentionStepWriter : public AttentionOperands {
 public:
  using AttentionOperands::AttentionOperands;
  // True if the kernel takes this.
  bool suits() const;
  // True if so many queries see so few keys that most warps would have none.
  bool has_idle_warps(const Card& card) const;
  // The usual shape first.
  std::vector<StepShape> shapes(const Card& card) const;
  // By the shape of this name, or the usual one; parts of the result lie behind so many bytes of the workspace.
  Launches write(Programs& programs, std::string_view shape, uint64_t workspace_bytes = 0);

 private:
  bool has_known_caches() const;
  bool keeps_each_once(const Matrices& kept) const;
  int64_t sharing() const;
  Launches write(Programs& programs, const StepShape& shape, uint64_t workspace_bytes);
  void add_shape(const StepShape& shape);
  void add_kept();
  bool has_even_steps() const;
};

}  // namespace assay::engine::cuda
