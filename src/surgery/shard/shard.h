#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "formats/shard_hints.h"
#include "ir/model.h"

namespace assay::surgery {

// The settings from which hints are made, besides the model.
struct HintOptions {
  formats::ShardHints base;  // all but layers, inputs and outputs, which are found
  formats::AttentionLayerHint layer;
  bool is_scaled = false;  // only layers whose Q and K are products, by the name of Q before it is scaled
  bool suggests_io = true;
  // True if the model tells the sequence dims of inputs, outputs, K and V; inputs without one are left out then.
  bool follows_inputs = false, follows_outputs = false, follows_k = false, follows_v = false;
  int64_t input_index = 0;  // of the sequence dim, where no dim is named `sequence_length` or `seq_len`
  int64_t output_index = 0;
  std::optional<int64_t> input_rank;  // if the model does not have it
  std::optional<int64_t> output_rank;
};

// Hints for all attention layers, and for the inputs and outputs of the graph connected to them.
// Error (usage) if the sequence dim of inputs or outputs cannot be traced as requested.
formats::ShardHints make_shard_hints(ir::Model& model, const HintOptions& options);

// One thing that was done to the model: `reduce_scatter`, `all_gather`, `fuse`, …, and the value that it is for.
struct ShardStep {
  std::string action;
  std::string name;
  std::string detail;
};

// The split of a value of which each rank has one of equal parts.
struct SplitValue {
  int64_t dim = 0;     // -1: the last one
  int64_t groups = 1;  // one after the other in the dim, each of which is split
};

struct Sharding {
  std::vector<ShardStep> steps;
  std::vector<std::string> unmatched;        // layers of the hints that are not in the model, by their Q
  std::string misfit;                        // the first node whose operands no longer fit each other; empty: none
  std::map<ir::ValueId, SplitValue> splits;  // values of the whole model behind scattered inputs, as far as known
};

// Error (usage) for contradictory groups, ranks and operators.
void check_shard_hints(const formats::ShardHints& hints);

// Splits the sequence over devices (context parallelism): each named input is scattered, K and V of the layers are
// gathered, and each named output is gathered, unless Q was. Outputs keep their names and types. The graph must be
// sorted and stays so. Error (usage) for unknown names; (shape) for dims that do not exist or cannot be split,
// (unsupported) for what works along the sequence or has its whole length on each device.
Sharding shard(ir::Model& model, const formats::ShardHints& hints);

}  // namespace assay::surgery
