#include "engine/layers/graph_reader.h"

#include "ir/queries.h"
#include "tensor/elements.h"

namespace assay::engine {

bool GraphReader::is(ir::NodeId node, std::string_view op, std::string_view domain) const {
  return node.valid() && !model_[node].is_outputs && model_.text(model_[node].op) == op &&
         model_.text(model_[node].domain) == domain && inference_.callees()[node].op != nullptr;
}

ir::NodeId GraphReader::sole_maker(ir::ValueId value) const {
  const ir::Use* const use = model_[value].first_use;
  const bool is_inside = use != nullptr && use->next == nullptr && !model_[use->user].is_outputs;
  const ir::NodeId node = is_inside ? model_[value].producer : ir::NodeId();
  return node.valid() && model_[node].graph == model_[use->user].graph ? node : ir::NodeId();
}

ir::ValueId GraphReader::operand(ir::NodeId node, uint32_t index) const { return ir::operand(model_, node, index); }

ir::ValueId GraphReader::other(ir::NodeId node, ir::ValueId value) const {
  if (operand(node, 0) == value) return operand(node, 1);
  return operand(node, 1) == value ? operand(node, 0) : ir::ValueId{};
}

TensorDesc GraphReader::desc_of(ir::ValueId value) const {
  return value.valid() ? find_desc(model_, inference_, value).value_or(TensorDesc()) : TensorDesc();
}

std::optional<double> GraphReader::number(ir::ValueId value) const {
  const tensor::Tensor* const tensor = constant(value);
  if (tensor == nullptr || tensor->count() != 1) return {};
  return tensor::load_elements<double>(*tensor).front();
}

bool GraphReader::are_used_inside(const std::set<ir::NodeId>& nodes, ir::NodeId last) const {
  for (const ir::NodeId node : nodes) {
    for (const ir::ValueId value : model_[node].results) {
      if (node == last || !value.valid()) continue;
      for (const ir::Use& use : ir::uses(model_, value)) {
        if (model_[use.user].is_outputs || !nodes.contains(use.user)) return false;
      }
    }
  }
  return true;
}

}  // namespace assay::engine
