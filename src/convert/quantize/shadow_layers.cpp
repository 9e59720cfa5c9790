#include "convert/quantize/shadow_layers.h"

#include <vector>

#include <fmt/format.h>

#include "convert/quantize/insert_qdq.h"
#include "convert/quantize/qdq_edit.h"
#include "ir/naming.h"
#include "ir/rewriter.h"

namespace assay::convert {
namespace {

// Adds a double of the node behind it.
ir::NodeId add_double(const ir::Model& model, ir::Edit& edit, ir::NodeId id) {
  const ir::Node& node = model[id];
  const std::string_view name = model.text(model[node.results[0]].name);
  const ir::Symbol result = ir::fresh_name(edit, fmt::format("{}_shadow", name));
  std::vector<ir::ValueId> operands;
  for (const ir::Use& use : node.operands) operands.push_back(use.value);
  const std::vector<ir::Attribute> attributes(node.attributes.begin(), node.attributes.end());
  ir::NodeSpec spec;
  spec.op = node.op;
  spec.domain = node.domain;
  spec.operands = operands;
  spec.results = {&result, 1};
  spec.attributes = attributes;
  const ir::NodeId made = edit.add_node(node.graph, spec, node.next);
  edit.origins().merge(made, {id});
  return made;
}

std::vector<std::string> ranges_of(const ir::Model& model, const QdqPlan& plan, const ir::Node& node) {
  std::vector<std::string> names;
  for (const ir::Use& use : node.operands) {
    if (!use.value || !plan.is_quantized[use.value.index]) continue;
    names.emplace_back(model.text(model[plan.range_of[use.value.index]].name));
  }
  return names;
}

// Adds doubles of nodes, which take over their roles; the nodes lose them.
std::vector<ShadowLayer> add_doubles(ir::Model& model, ir::Edit& edit, QdqPlan& plan) {
  std::vector<ShadowLayer> layers;
  std::vector<QdqRole> roles(plan.roles.size(), QdqRole::none);
  for (const Layer& layer : plan.layers) {
    if (!layer.converted) continue;
    const ir::NodeId shadow = add_double(model, edit, layer.node);
    roles.resize(model.node_slots(), QdqRole::none);
    roles[shadow.index] = plan.roles[layer.node.index];
    layers.push_back({std::string(model.text(model[model[layer.node].results[0]].name)),
                      std::string(model.text(model[model[shadow].results[0]].name)),
                      ranges_of(model, plan, model[layer.node])});
  }
  plan.roles = std::move(roles);
  return layers;
}

}  // namespace

std::vector<ShadowLayer> add_shadow_layers(ir::Model& model, const QdqOptions& options, const calibrate::Ranges& ranges,
                                           Diagnostics& findings) {
  QdqPlan plan = plan_with_ranges(model, options, ranges, findings);
  std::vector<ShadowLayer> layers;
  ir::Rewriter rewriter(model);
  rewriter.apply("measure what rounding costs", {}, [&] {
    layers = add_doubles(model, rewriter.edit(), plan);
    apply_qdq(model, rewriter.edit(), options, plan, ranges);
  });
  return layers;
}

}  // namespace assay::convert
