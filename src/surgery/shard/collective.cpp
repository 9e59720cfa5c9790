#include "surgery/shard/collective.h"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"

namespace assay::surgery {

using ir::NodeId;
using ir::ValueId;

ValueId ShardNodes::add_collective(ValueId value, std::string_view operation) {
  const std::string_view reduce_op = operation == "reduce_scatter" ? std::string_view(hints_.reduce_op)
                                     : operation == "all_reduce"   ? "sum"
                                                                   : "none";
  const std::span<const int64_t> groups = model_.arena().copy(std::span<const int64_t>(hints_.groups));
  const std::array attributes = {
      ir::Attribute::of(edit_.intern("group_size"), hints_.group_size),
      ir::Attribute::of(edit_.intern("root"), hints_.root),
      ir::Attribute::of(edit_.intern("nb_rank"), hints_.nb_rank),
      text_attribute("reduce_op", reduce_op),
      text_attribute("collective_operation", operation),
      ir::Attribute::list(edit_.intern("groups"), ir::AttributeType::integers, groups),
  };
  return add_node("DistCollective", {&value, 1}, attributes);
}

ValueId ShardNodes::add_transpose(ValueId value, const std::vector<int64_t>& order) {
  const std::span<const int64_t> kept = model_.arena().copy(std::span<const int64_t>(order));
  const ir::Attribute perm = ir::Attribute::list(edit_.intern("perm"), ir::AttributeType::integers, kept);
  return add_node("Transpose", {&value, 1}, {&perm, 1});
}

ValueId ShardNodes::add_attention(ValueId q, ValueId turned_keys, ValueId values, ValueId factor) {
  const ValueId scores = add_node("MatMul", std::array{q, turned_keys});
  const ValueId scaled = add_node("Mul", std::array{scores, factor});
  const ir::Attribute axis = ir::Attribute::of(edit_.intern("axis"), int64_t{-1});
  const ValueId shares = add_node("Softmax", {&scaled, 1}, {&axis, 1});
  return add_node("MatMul", std::array{shares, values});
}

ValueId ShardNodes::add_node(std::string_view op, std::span<const ValueId> operands,
                             std::span<const ir::Attribute> attributes) {
  const ir::Symbol result = next_name();
  const ir::Symbol label = next_name();
  const ir::NodeSpec spec = {.op = edit_.intern(op),
                             .name = model_.text(label),
                             .operands = operands,
                             .results = {&result, 1},
                             .attributes = attributes};
  const NodeId node = edit_.add_node(model_.main_graph(), spec, before_);
  return model_[node].results[0];
}

void ShardNodes::move_uses(ValueId old, ValueId made, const std::vector<NodeId>& readers) {
  const bool is_output = std::ranges::any_of(
      readers, [&](NodeId reader) { return model_[reader].is_outputs && model_[reader].graph == model_.main_graph(); });
  if (is_output && model_[old].kind == ir::ValueKind::input) {
    fail(ErrorCode::usage, "`{}` is an input and an output of the graph, and cannot be split",
         printable(model_.text(model_[old].name)));
  }
  if (is_output) {
    const ir::Symbol name = model_[old].name;
    edit_.rename(old, model_[made].name);
    edit_.rename(made, name);
  }
  for (const NodeId reader : std::set<NodeId>(readers.begin(), readers.end())) {
    for (uint32_t i = 0; i < model_[reader].operands.size(); ++i) {
      if (model_[reader].operands[i].value == old) edit_.set_operand(reader, i, made);
    }
  }
}

ir::Attribute ShardNodes::text_attribute(std::string_view name, std::string_view text) {
  return ir::Attribute::of(edit_.intern(name), ir::AttributeType::string, edit_.intern(text));
}

std::vector<NodeId> readers_of(const ir::Model& model, ValueId value) {
  std::vector<NodeId> readers;
  for (const ir::Use& use : ir::uses(model, value)) readers.push_back(use.user);
  return readers;
}

}  // namespace assay::surgery
