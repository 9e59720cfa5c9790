#include "exec/shape_inputs.h"

#include <set>

#include "ops/traits.h"

namespace assay::exec {
namespace {

class Follower {
 public:
  explicit Follower(const ir::Model& model) : model_(model) {}

  bool decides_shape(ir::ValueId input) {
    std::set<uint32_t> seen;
    std::vector<ir::ValueId> open = {input};
    while (!open.empty()) {
      const ir::ValueId value = open.back();
      open.pop_back();
      if (!seen.insert(value.index).second) continue;
      for (const ir::Use& use : ir::uses(model_, value)) {
        const ir::Node& node = model_[use.user];
        if (node.is_outputs || !model_.text(node.domain).empty()) continue;
        if (ops::traits(model_, use.user).sizes.contains(use.index)) return true;
        if (!carries(use.user)) continue;
        for (const ir::ValueId result : node.results) {
          if (result.valid()) open.push_back(result);
        }
      }
    }
    return false;
  }

 private:
  // Operators that compute with elements as the arithmetic of shapes does.
  bool carries(ir::NodeId node) const {
    const ops::Nature nature = ops::traits(model_, node).nature;
    return nature == ops::Nature::movement || nature == ops::Nature::elementwise || nature == ops::Nature::conversion ||
           nature == ops::Nature::reduction;
  }

  const ir::Model& model_;
};

bool holds_numbers(const ir::Model& model, ir::ValueId input) {
  const ir::TypeId type = model[input].type;
  if (!type.valid() || model[type].kind != ir::TypeKind::tensor) return false;
  if (model[type].ranked && model[type].dims.size() > 1) return false;
  return tensor::is_integer(model[type].dtype) || tensor::is_floating(model[type].dtype);
}

}  // namespace

std::vector<ir::ValueId> shape_inputs(const ir::Model& model) {
  std::vector<ir::ValueId> inputs;
  Follower follower(model);
  for (const ir::ValueId input : model[model.main_graph()].inputs) {
    if (holds_numbers(model, input) && follower.decides_shape(input)) inputs.push_back(input);
  }
  return inputs;
}

}  // namespace assay::exec
