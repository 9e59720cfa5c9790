#pragma once

#include <string_view>
#include <vector>

#include "formats/shard_hints.h"
#include "ir/edit.h"
#include "ir/naming.h"

namespace assay::surgery {

// Makes the nodes that sharding inserts into a model; they and their results are named `shard_<n>`.
class ShardNodes {
 public:
  // All edits of the model are made by `edit`, which must outlive this.
  ShardNodes(ir::Model& model, ir::Edit& edit, const formats::ShardHints& hints)
      : model_(model), edit_(edit), hints_(hints) {}

  // The next nodes are inserted here; invalid: at the end.
  void stand_before(ir::NodeId node) { before_ = node; }
  // `operation` as the collective has it: `reduce_scatter`, `all_gather`, `all_reduce`.
  ir::ValueId add_collective(ir::ValueId value, std::string_view operation);
  ir::ValueId add_transpose(ir::ValueId value, const std::vector<int64_t>& order);
  // Attention in operators of ONNX: of the keys, dims are the same with the last two exchanged; `factor` scales scores.
  ir::ValueId add_attention(ir::ValueId q, ir::ValueId turned_keys, ir::ValueId values, ir::ValueId factor);
  ir::ValueId add_node(std::string_view op, std::span<const ir::ValueId> operands,
                       std::span<const ir::Attribute> attributes = {});
  // The readers use the new value in place of the old one; as an output of the graph it takes over the name.
  void move_uses(ir::ValueId old, ir::ValueId made, const std::vector<ir::NodeId>& readers);

 private:
  ir::Attribute text_attribute(std::string_view name, std::string_view text);
  ir::Symbol next_name() { return names_.next(edit_, "shard"); }

  ir::Model& model_;
  ir::Edit& edit_;
  const formats::ShardHints& hints_;
  ir::NodeId before_;
  ir::NameCounter names_;
};

// The nodes that use a value, including those of bodies and outputs.
std::vector<ir::NodeId> readers_of(const ir::Model& model, ir::ValueId value);

}  // namespace assay::surgery
