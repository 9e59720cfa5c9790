#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace assay::engine::cuda {

// These stand in text/attention_step.cu, too: elements that a lane reads at once, and blocks that divide keys.
inline constexpr int64_t kStepPack = 8, kMostStepParts = 32;
inline constexpr int64_t kStepThreads = 256, kStepWarps = kStepThreads / 32;

// Attention of few queries: heads that share keys come together in sets.
struct StepWork {
  int64_t sets = 1;
  int64_t queries = 1;  // of each set
  int64_t keys = 1;
  int64_t size = kStepPack;  // of keys or of values, whichever is larger
  bool is_wide = false;      // float32
  bool has_beside = false;   // a mask, or conditions
};

// The division of such work among blocks.
struct StepShape {
  int64_t lanes = 1;   // of a warp that share a key
  int64_t flight = 1;  // keys that such a group of lanes has on their way
  int64_t take = 1;    // queries of a block
  int64_t chunks = 1;  // blocks for the queries of a set
  int64_t parts = 1;   // blocks that divide keys
  int64_t part_keys = 1;
  int64_t resident = 1;  // blocks for whose registers a processor has room

  std::string name() const;  // `8/32`: queries and parts
};

// Shapes for a card with so many processors, the usual one first.
std::vector<StepShape> step_shapes(const StepWork& work, int64_t processors);

}  // namespace assay::engine::cuda
