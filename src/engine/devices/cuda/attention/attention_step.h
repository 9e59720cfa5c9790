#pragma once

#include "engine/devices/cuda/attention/attention_operands.h"

namespace assay::engine::cuda {

// The division of attention of few queries among blocks.
struct StepShape {
  int64_t sharing = 1;  // heads with the same keys, the last ones among the items
  int64_t lanes = 1;    // of a warp that share a key
  int64_t take = 1;     // queries of a block
  int64_t chunks = 1;   // blocks for the queries of heads that share keys
  int64_t parts = 1;    // blocks that divide keys
  int64_t part_keys = 1;
};

// Attention of few queries, which keeps caches in the same launch, as it reads them.
class AttentionStepWriter : public AttentionOperands {
 public:
  using AttentionOperands::AttentionOperands;
  // True if the kernel takes this.
  bool suits() const;
  // Parts of the result lie behind so many bytes of the workspace.
  Launches write(Programs& programs, uint64_t workspace_bytes = 0);

 private:
  bool has_known_caches() const;
  bool keeps_each_once(const Matrices& kept) const;
  int64_t sharing() const;
  StepShape shape_for(const Card& card) const;
  void add_shape(const StepShape& shape);
  void add_kept();
  bool has_even_steps() const;
};

}  // namespace assay::engine::cuda
