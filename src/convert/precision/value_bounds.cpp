#include "convert/precision/value_bounds.h"

#include <array>
#include <limits>
#include <span>

#include "convert/precision/bounds_rule.h"
#include "ir/queries.h"
#include "ops/traits.h"
#include "tensor/casts.h"

namespace assay::convert {
namespace {

// The bounds of the finite numbers; infinity is there in float32 too.
Bounds bounds_of(const tensor::Tensor& floats, double largest) {
  if (!floats.storage()) return {};
  constexpr uint64_t kPiece = 1024;
  const tensor::Bytes pattern = floats.storage()->fill_pattern();
  const tensor::Bytes bytes = pattern.empty() ? floats.bytes() : pattern;
  const uint64_t count = pattern.empty() ? floats.count() : 1;
  std::array<double, kPiece> numbers;
  double low = HUGE_VAL;
  double high = -HUGE_VAL;
  for (uint64_t begin = 0; begin < count; begin += kPiece) {
    const std::span<double> piece(numbers.data(), std::min(kPiece, count - begin));
    tensor::load(floats.dtype(), bytes, begin, piece);
    for (const double number : piece) {
      if (!std::isfinite(number)) continue;
      low = std::min(low, std::clamp(number, -largest, largest));
      high = std::max(high, std::clamp(number, -largest, largest));
    }
  }
  return low <= high ? Bounds::known(low, high) : Bounds::known(0, 0);
}

}  // namespace

ValueBounds::ValueBounds(const ir::Model& model, const FloatModel& floats, double largest)
    : model_(model), floats_(floats), bounds_(model.value_slots()) {
  set_constants(largest);
  walk(model.main_graph());
}

// Sets the bounds of constants that are multiplied element by element; of the weights of products other numbers matter.
void ValueBounds::set_constants(double largest) {
  for (uint32_t i = 0; i < bounds_.size(); ++i) {
    if (!is_float(ir::ValueId{i})) continue;
    const auto is_elementwise = [this](const ir::Use& use) {
      return !model_[use.user].is_outputs && (!floats_.callees[use.user].op || !floats_.callees[use.user].op->macs);
    };
    bool is_used = false;
    for (const ir::Use& use : ir::uses(model_, ir::ValueId{i})) is_used = is_used || is_elementwise(use);
    if (!is_used) continue;
    const std::optional<tensor::Tensor> found = constant(ir::ValueId{i});
    if (found) bounds_[i] = bounds_of(*found, largest);
  }
}

void ValueBounds::walk(ir::GraphId graph) {
  constexpr double kMost = std::numeric_limits<float>::max();
  for (const ir::NodeId id : ir::nodes(model_, graph)) {
    const ir::Node& node = model_[id];
    const ops::Callee& callee = floats_.callees[id];
    for (const ir::GraphId body : model_.bodies(node)) walk(body);
    if (!model_.bodies(node).empty()) join_bodies(node);
    if (callee.function || !callee.schema || !model_.bodies(node).empty() || ir::is_constant_node(model_, id)) continue;
    Bounds found = BoundsRule(*this, node).apply(callee.schema->name, ops::traits(model_, id));
    found.low = std::clamp(found.low, -kMost, kMost);
    found.high = std::clamp(found.high, -kMost, kMost);
    for (const ir::ValueId result : node.results) {
      if (is_float(result)) bounds_[result.index] = found;
    }
  }
}

// The last results of a body are those of the node; all that comes out is taken together.
void ValueBounds::join_bodies(const ir::Node& node) {
  Bounds all;
  for (const ir::GraphId body : model_.bodies(node)) {
    for (const ir::Use& use : model_.outputs(body)) {
      if (is_float(use.value)) all = join(all, bounds_[use.value.index]);
    }
  }
  for (const ir::ValueId result : node.results) {
    if (result) bounds_[result.index] = all;
  }
}

std::optional<tensor::Tensor> ValueBounds::constant(ir::ValueId value) const {
  return is_float(value) ? float_constant(model_, value, floats_.dtypes[value.index]) : std::nullopt;
}

ir::ValueId ValueBounds::uncast(ir::ValueId value) const {
  while (is_float(value) && model_[value].kind == ir::ValueKind::result) {
    const ir::NodeId producer = model_[value].producer;
    const ir::ValueId source = ir::operand(model_, producer, 0);
    if (!ops::traits(model_, producer).is_cast() || !source || !is_float(source)) break;
    value = source;
  }
  return value;
}

bool ValueBounds::depends(ir::ValueId value, ir::ValueId on) const {
  constexpr size_t kMost = 24;
  std::vector<ir::ValueId> seen{value};
  for (size_t i = 0; i < seen.size() && seen.size() < kMost; ++i) {
    if (seen[i] == on) return true;
    if (model_[seen[i]].kind != ir::ValueKind::result) continue;
    for (const ir::Use& use : model_[model_[seen[i]].producer].operands) {
      if (use.value && std::ranges::find(seen, use.value) == seen.end()) seen.push_back(use.value);
    }
  }
  return std::ranges::find(seen, on) != seen.end();
}

}  // namespace assay::convert
