#include "engine/program/bodies.h"

#include <algorithm>

#include "engine/layers/layer.h"
#include "engine/program/find_parts.h"
#include "ir/excerpt.h"

namespace assay::engine {
namespace {

bool has_work_below(const ir::Model& model, const ops::Inference& inference, ir::GraphId body) {
  for (const ir::NodeId node : ir::nodes(model, body)) {
    if (has_work(inference, node)) return true;
    for (const ir::GraphId deeper : model.bodies(model[node])) {
      if (has_work_below(model, inference, deeper)) return true;
    }
  }
  return false;
}

std::unique_ptr<const BodyPart> make_body(const ir::Model& model, const ops::Inference& inference, ir::GraphId body,
                                          const BodyTarget& target) {
  ir::Excerpt excerpt = ir::body_excerpt(model, body);
  std::erase_if(excerpt.inputs, [&](ir::ValueId value) {
    const bool is_own = model[value].graph == body;
    const tensor::Tensor* const constant = is_own ? nullptr : constant_of(model, inference, value);
    if (constant != nullptr) excerpt.constants.emplace(value, *constant);
    return constant != nullptr;
  });
  const auto own = static_cast<ptrdiff_t>(model[body].inputs.size());
  std::vector<ir::ValueId> outer(excerpt.inputs.begin() + own, excerpt.inputs.end());
  return std::make_unique<const BodyPart>(ir::make_excerpt(model, excerpt), std::move(outer), target.devices,
                                          target.options);
}

}  // namespace

bool add_bodies(const ir::Model& model, const ops::Inference& inference, ir::NodeId node, const BodyTarget& target) {
  bool is_any = false;
  for (const ir::GraphId body : model.bodies(model[node])) {
    const auto outputs = model.outputs(body);
    const bool is_named = std::ranges::all_of(outputs, [](const ir::Use& use) { return use.value.valid(); });
    if (!is_named || !has_work_below(model, inference, body)) continue;
    target.bodies.emplace(body, make_body(model, inference, body, target));
    is_any = true;
  }
  return is_any;
}

}  // namespace assay::engine
