#pragma once

#include <map>
#include <string>
#include <vector>

#include "formats/shard_hints.h"
#include "ir/model.h"
#include "surgery/shard/shard.h"
#include "surgery/shard/slice.h"

namespace assay::surgery {

// A product or an attention node that every rank computes as a whole, and why.
struct LeftWhole {
  std::string node;
  std::string reason;
  bool is_attention = false;
};

// An initializer of which each rank has its part.
struct RankedWeight {
  ir::ValueId value;
  tensor::Tensor whole;
  Part part;
};

struct TensorSharding {
  std::vector<ShardStep> steps;  // `slice`, `divide`, `all_reduce`
  std::vector<LeftWhole> left;
  std::vector<RankedWeight> weights;
  std::map<ir::ValueId, SplitValue> splits;  // values of which each rank has a part
  std::map<ir::ValueId, ir::ValueId> sums;   // by values of which each rank has a summand: what all give together
};

// Splits weights over the ranks of the hints (tensor parallelism): attention by heads, and products with linear and
// other operators between them. The model becomes that of rank 0. Parts that cannot be traced stay whole. The graph
// must be sorted and stays so. Error (usage) for heads that ranks cannot share, and if nothing can be split.
TensorSharding shard_tensors(ir::Model& model, const formats::ShardHints& hints);

// Changes the model to that of another rank.
void set_rank(ir::Model& model, const TensorSharding& sharding, int64_t rank);

}  // namespace assay::surgery
