#pragma once

#include <optional>
#include <span>
#include <vector>

#include "engine/layers/attention_operand.h"

namespace assay::engine {

// Keys or values of an attention that Concat appends to those of the past, and that others may read too.
struct AppendedCache {
  ir::ValueId past, fresh;        // the past, and what is appended to it, before a Cast of the past
  ir::ValueId given;              // read by others: the result of Concat, or its Cast; invalid: nobody reads it
  std::vector<ir::NodeId> nodes;  // perhaps Cast, Concat, perhaps Cast
};

// True if rows of the operand's matrices are keys, not columns.
inline bool has_rows_of_keys(const AttentionOperand& operand) { return operand.is_turned != operand.are_values; }

// True if Concat appends keys to others there, in an order that kernels read: as rows, if they are bfloat16.
bool is_appended(const ir::Model& model, const ops::Inference& inference, const AttentionOperand& operand);

// The cache that an operand reads in an attention of these nodes, the last of which comes last in the graph. Nullopt:
// the operand is no such value, or the attention reads it elsewhere too, or others do before it ends.
std::optional<AppendedCache> find_appended(const ir::Model& model, const ops::Inference& inference,
                                           std::span<const ir::NodeId> attention, const AttentionOperand& operand);

}  // namespace assay::engine
