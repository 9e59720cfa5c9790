#include "engine/lowering/compressed_groups.h"

#include "engine/layers/compressed_product.h"

namespace assay::engine {
namespace {

bool has_one_use(const ir::Model& model, ir::ValueId value) {
  size_t uses = 0;
  for (const ir::Use& use : ir::uses(model, value)) uses += model[use.user].is_outputs ? 2 : 1;
  return uses == 1;
}

}  // namespace

std::vector<ir::NodeId> compressed_group(const ir::Model& model, const ops::Inference& inference, ir::NodeId product,
                                         const ConstantOf& constant) {
  std::vector<ir::NodeId> group = {product};
  while (group.size() <= kMostCompressedNodes) {
    if (match_compressed(model, inference, group, constant)) return group;
    const ir::Node& first = model[group.front()];
    const uint32_t index = group.size() == 1 ? 1 : 0;
    if (index >= first.operands.size() || !first.operands[index].value.valid()) return {};
    const ir::ValueId operand = first.operands[index].value;
    const ir::NodeId producer = model[operand].producer;
    if (!producer.valid() || !has_one_use(model, operand)) return {};
    group.insert(group.begin(), producer);
  }
  return {};
}

}  // namespace assay::engine
