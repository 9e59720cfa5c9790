#include <algorithm>
#include <array>

#include "ops/operator.h"
#include "ops/traits.h"
#include "surgery/shard/rules.h"

namespace assay::surgery {
namespace {

using ir::NodeId;

void need_all(Region& region, NodeId node, const Split& split) {
  const uint32_t count = static_cast<uint32_t>(region.facts().model()[node].operands.size());
  for (uint32_t i = 0; i < count; ++i) {
    if (region.facts().operand(node, i)) region.need_broadcast(node, i, split);
  }
}

void follow_linear(Region& region, NodeId node, uint32_t, const Split& split) { need_all(region, node, split); }

void follow_function(Region& region, NodeId node, uint32_t, const Split& split) {
  need_all(region, node, split);
  region.note_nonlinear();
}

// With a constant a product is a scale; of two computed values it is a gate.
void follow_product(Region& region, NodeId node, uint32_t, const Split& split) {
  need_all(region, node, split);
  const auto is_constant = [&](uint32_t index) {
    return region.facts().is_weight(region.facts().operand(node, index));
  };
  if (!is_constant(0) && !is_constant(1)) region.note_nonlinear();
}

[[noreturn]] void refuse_axis(const Region& region, NodeId node) {
  refuse(region, node, "works along the dim that would be split");
}

void follow_softmax(Region& region, NodeId node, uint32_t, const Split& split) {
  const ops::Node attributes = region.facts().attributes(node);
  const bool is_flat = attributes.version() < 13;  // all dims from the axis on
  const int64_t axis = region.facts().axis_from_end(node, attributes.integer("axis", is_flat ? 1 : -1));
  if (split.dim == axis || (is_flat && split.dim < axis)) refuse_axis(region, node);
  region.need(node, 0, split);
  region.note_nonlinear();
}

// Scale and bias have the dims that are normalised, and stay whole.
void follow_normalization(Region& region, NodeId node, uint32_t, const Split& split) {
  const int64_t axis = region.facts().axis_from_end(node, region.facts().attributes(node).integer("axis", -1));
  if (split.dim <= axis) refuse_axis(region, node);
  region.need(node, 0, split);
  region.note_nonlinear();
}

void follow_reduction(Region& region, NodeId node, uint32_t, const Split& split) {
  const ShapeFacts& facts = region.facts();
  const ops::Node attributes = facts.attributes(node);
  std::vector<int64_t> axes = attributes.integers("axes");
  if (facts.operand(node, 1)) {
    const auto elements = facts.elements(facts.operand(node, 1));
    for (const std::optional<int64_t>& item : elements.value_or(std::vector<std::optional<int64_t>>())) {
      if (item) axes.push_back(*item);
    }
    if (!elements || axes.size() != elements->size()) refuse_axis(region, node);
  }
  if (axes.empty() || attributes.integer("keepdims", 1) == 0) refuse_axis(region, node);
  for (const int64_t axis : axes) {
    if (region.facts().axis_from_end(node, axis) == split.dim) refuse_axis(region, node);
  }
  region.need(node, 0, split);
  region.note_nonlinear();
}

constexpr std::array<std::string_view, 5> kLinear = {"Add", "Sub", "Cast", "Identity", "Neg"};
constexpr std::array<std::string_view, 2> kProducts = {"Mul", "Div"};

std::vector<SplitRule> make_rules() {
  std::vector<SplitRule> rules;
  for (const std::string_view op : kLinear) rules.push_back({op, "", follow_linear, true});
  for (const std::string_view op : kProducts) rules.push_back({op, "", follow_product, true});
  const auto is_elementwise = [](const ops::Traits& traits) { return traits.is(ops::Nature::elementwise); };
  for (const std::string_view op : ops::operators_that(is_elementwise)) {
    const bool is_listed = std::ranges::count(kLinear, op) > 0 || std::ranges::count(kProducts, op) > 0;
    if (!is_listed) rules.push_back({op, "", follow_function, true});
  }
  const auto is_function = [](const ops::Traits& traits) {
    return traits.is(ops::Nature::elementwise) && traits.codes.is_empty();
  };
  for (const std::string_view op : ops::operators_that(is_function, ops::kMicrosoft))
    rules.push_back({op, ops::kMicrosoft, follow_function, true});
  for (const std::string_view op : {"Softmax", "LogSoftmax"}) rules.push_back({op, "", follow_softmax, true});
  const auto is_reduction = [](const ops::Traits& traits) { return traits.is(ops::Nature::reduction); };
  for (const std::string_view op : ops::operators_that(is_reduction)) {
    if (op.starts_with("Reduce")) rules.push_back({op, "", follow_reduction, true});
  }
  for (const std::string_view op : {"LayerNormalization", "RMSNormalization", "SimplifiedLayerNormalization"}) {
    rules.push_back({op, "", follow_normalization, true});
  }
  return rules;
}

}  // namespace

std::span<const SplitRule> element_rules() {
  static const std::vector<SplitRule> kRules = make_rules();
  return kRules;
}

}  // namespace assay::surgery
