#include "convert/precision/wide_values.h"

#include <algorithm>
#include <array>
#include <span>

#include "convert/precision/value_bounds.h"
#include "ir/queries.h"
#include "ops/traits.h"

namespace assay::convert {
namespace {

bool is_cast(const ir::Model& model, const HalfPlan& plan, ir::ValueId value) {
  if (!plan.is_float[value.index] || plan.is_half[value.index] || float_constant(model, value)) return false;
  for (const ir::Use& use : ir::uses(model, value)) {
    if (plan.want(use) == Wanted::half) return true;
  }
  return false;
}

// Operators that apply masks.
constexpr std::array<std::string_view, 6> kMasked = {"Add", "Sum", "Sub", "Where", "Max", "Min"};

bool is_one_of(std::string_view op, std::span<const std::string_view> ops) {
  return std::ranges::find(ops, op) != ops.end();
}

bool is_mask_argument(const schema::Schema& schema, uint32_t index) {
  const schema::ArgumentSchema* argument = schema.input(index);
  return argument && (argument->name == "attn_mask" || argument->name == "attention_bias");
}

bool may_be_mask(const ir::Model& model, const FloatModel& floats, ir::ValueId input) {
  bool is_mask = false;
  std::vector<ir::ValueId> moved = {input};
  for (size_t i = 0; i < moved.size(); ++i) {
    for (const ir::Use& use : ir::uses(model, moved[i])) {
      const ir::Node& user = model[use.user];
      const ops::Callee& callee = floats.callees[use.user];
      if (user.is_outputs || callee.function || !callee.schema) continue;
      const bool is_argument = is_mask_argument(*callee.schema, use.index);
      if (!is_argument && callee.op && callee.op->macs) return false;
      is_mask = is_mask || is_argument || is_one_of(callee.schema->name, kMasked);
      const bool is_moved = use.index == 0 && ops::traits(model, use.user).is(ops::Nature::movement);
      if (is_moved && !user.results.empty() && user.results[0]) moved.push_back(user.results[0]);
    }
  }
  return is_mask;
}

}  // namespace

std::vector<bool> find_wide_values(const ir::Model& model, const FloatModel& floats, const HalfPlan& plan) {
  std::vector<bool> is_wide(model.value_slots());
  std::optional<ValueBounds> bounds;
  for (uint32_t i = 0; i < is_wide.size(); ++i) {
    const ir::ValueId value{i};
    if (!is_cast(model, plan, value)) continue;
    if (model[value].kind == ir::ValueKind::input && model[value].graph == model.main_graph()) {
      is_wide[i] = may_be_mask(model, floats, value);
      continue;
    }
    if (!bounds) bounds.emplace(model, floats, HUGE_VAL);
    is_wide[i] = (*bounds)[value].magnitude() > largest_half(tensor::DType::bfloat16);
  }
  return is_wide;
}

}  // namespace assay::convert
