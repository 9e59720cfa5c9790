#include "convert/precision/exact_values.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "convert/precision/control_flow.h"
#include "convert/precision/typed_by_attribute.h"
#include "convert/precision/value_bounds.h"
#include "ops/traits.h"

namespace assay::convert {
namespace {

constexpr std::string_view kAngle = "the angle of a sine or cosine needs float32";
constexpr std::string_view kIndex = "an index or another integer needs float32";
constexpr std::string_view kPlace = "sampling coordinates need float32";
constexpr std::string_view kCompared = "a comparison with positions needs float32";
constexpr std::string_view kDouble = "a result of float64 needs float32";
constexpr std::array kReasons = {kAngle, kIndex, kPlace, kCompared, kDouble};

constexpr double kSmallAngle = 4;  // a little more than half a turn

// The reason for which an operand must be exact; empty: it need not be.
std::string_view reason_of(const ops::Traits& traits, uint32_t operand) {
  if (traits.is_periodic && operand == 0) return kAngle;
  const bool is_size = traits.sizes.contains(operand) || traits.indices.contains(operand);
  if (traits.places.contains(operand) || (is_size && traits.is(ops::Nature::sampling))) return kPlace;
  return is_size ? kIndex : std::string_view();
}

// True if the results have the type of an operand.
bool is_tied(const schema::Schema& schema, uint32_t operand) {
  const schema::ArgumentSchema *const given = schema.input(operand), *const made = schema.output(0);
  return given && made && !given->variable.empty() && given->variable == made->variable;
}

// True for the numbers from one to another: all operands decide how many they are.
bool makes_positions(const ops::Traits& traits, const ir::Node& node) {
  bool are_sizes = traits.is(ops::Nature::generator) && traits.typed_by.empty() && !node.operands.empty();
  for (const ir::Use& use : node.operands) are_sizes = are_sizes && traits.sizes.contains(use.index);
  return are_sizes;
}

class ExactFinder {
 public:
  ExactFinder(const ir::Model& model, const FloatModel& floats, const HalfOptions& options)
      : model_(model), floats_(floats), options_(options), is_counted_(model.value_slots()) {
    found_.reasons.resize(model.node_slots());
    found_.is_exact.resize(model.value_slots());
  }

  ExactValues find() {
    for (const ir::NodeId node : floats_.nodes) {
      note_counted(node);
      note_ties(node);
    }
    for (const ir::NodeId node : floats_.nodes) look_at(node);
    return std::move(found_);
  }

 private:
  bool is_float(ir::ValueId value) const { return value && floats_.holds[value.index] == Holds::float32; }
  bool is_operator(ir::NodeId node) const { return !floats_.callees[node].function && floats_.callees[node].schema; }
  std::string_view op(ir::NodeId node) const {
    return is_operator(node) ? floats_.callees[node].schema->name : std::string_view();
  }

  // Positions, lengths and masks: all that is not constant comes from integers.
  void note_counted(ir::NodeId id) {
    const ir::Node& node = model_[id];
    if (!is_operator(id) || floats_.is_heavy[id.index] || !model_.bodies(node).empty()) return;
    const bool is_typed = !type_attribute(*floats_.callees[id].schema).empty();
    const ops::Traits& traits = ops::traits(model_, id);
    const bool is_range = makes_positions(traits, node);
    if (!is_typed && !is_range && !comes_from_integers(node)) return;
    const bool is_cast = traits.is_cast() && !node.operands.empty() && node.operands[0].value &&
                         floats_.holds[node.operands[0].value.index] == Holds::integer;
    if (is_typed && !is_cast) return;
    for (const ir::ValueId result : node.results) {
      if (!is_float(result)) continue;
      is_counted_[result.index] = true;
      if (!is_typed && !is_range) found_.reasons[id.index] = "computed from integers";
    }
  }

  bool comes_from_integers(const ir::Node& node) const {
    bool has_counted = false;
    for (const ir::Use& use : node.operands) {
      if (!is_float(use.value)) continue;
      if (!is_counted_[use.value.index] && !float_constant(model_, use.value)) return false;
      has_counted = has_counted || is_counted_[use.value.index];
    }
    return has_counted;
  }

  void note_ties(ir::NodeId id) {
    if (!is_operator(id) || model_.bodies(model_[id]).empty()) return;
    for (const TypeTie& tie : control_flow_ties(model_, id, floats_.callees[id].version)) {
      for (const ir::ValueId value : tie.values) tie_of_.emplace(value, tie);
    }
  }

  void look_at(ir::NodeId id) {
    const ir::Node& node = model_[id];
    if (!is_operator(id)) return;
    const ops::Traits& traits = ops::traits(model_, id);
    for (uint32_t i = 0; i < node.operands.size(); ++i) {
      const std::string_view reason = reason_of(traits, i);
      if (reason.empty() || (reason == kAngle && is_small(id))) continue;
      if (reason != kIndex && is_tied(*floats_.callees[id].schema, i)) keep(id, reason);
      follow(node.operands[i].value, reason);
    }
    if (traits.is(ops::Nature::conversion)) look_at_cast(node);
    if (is_comparison(id) && std::ranges::any_of(node.operands, [this](const ir::Use& use) {
          return is_float(use.value) && is_counted_[use.value.index];
        })) {
      for (const ir::Use& use : node.operands) follow(use.value, kCompared);
    }
  }

  bool is_comparison(ir::NodeId id) const {
    return ops::traits(model_, id).rounding == ops::RoundingClass::decided && model_[id].operands.size() == 2;
  }

  void look_at_cast(const ir::Node& node) {
    if (node.operands.empty() || node.results.empty() || !node.results[0]) return;
    const tensor::DType made = floats_.dtypes[node.results[0].index];
    if (tensor::is_integer(made)) follow(node.operands[0].value, kIndex);
    if (made == tensor::DType::float64) follow(node.operands[0].value, kDouble);
  }

  // True if 16 bits hold the angle as well as they hold its sine: as measured, or as constants and operators imply.
  bool is_small(ir::NodeId id) {
    const ir::Node& node = model_[id];
    if (!is_float(node.operands[0].value)) return true;
    if (const auto known = options_.measured.find(id); known != options_.measured.end()) {
      return known->second <= kSmallAngle;
    }
    if (!bounds_) bounds_.emplace(model_, floats_, HUGE_VAL);
    const Bounds& angle = (*bounds_)[node.operands[0].value];
    return !angle.is_assumed && angle.magnitude() <= kSmallAngle;
  }

  void keep(ir::NodeId node, std::string_view reason) {
    if (found_.reasons[node.index].empty()) found_.reasons[node.index] = reason;
  }

  // Backwards from a value through all that is no feature of a network.
  void follow(ir::ValueId start, std::string_view reason) {
    std::vector<ir::ValueId> pending{start};
    while (!pending.empty()) {
      const ir::ValueId value = pending.back();
      pending.pop_back();
      if (!is_float(value) || found_.is_exact[value.index] || float_constant(model_, value)) continue;
      found_.is_exact[value.index] = true;
      if (const auto tie = tie_of_.find(value); tie != tie_of_.end()) {
        follow_tie(tie->second, pending);
      } else if (model_[value].kind == ir::ValueKind::result) {
        follow_node(model_[value].producer, reason, pending);
      }
    }
  }

  void follow_tie(const TypeTie& tie, std::vector<ir::ValueId>& pending) const {
    pending.insert(pending.end(), tie.values.begin(), tie.values.end());
    for (const TypeTie::Place& place : tie.uses) pending.push_back(model_[place.user].operands[place.index].value);
  }

  void follow_node(ir::NodeId id, std::string_view reason, std::vector<ir::ValueId>& pending) {
    if (!is_operator(id) || makes_features(id) || !model_.bodies(model_[id]).empty()) return;
    if (type_attribute(*floats_.callees[id].schema).empty()) keep(id, reason);
    for (const ir::Use& use : model_[id].operands) pending.push_back(use.value);
  }

  bool makes_features(ir::NodeId id) const {
    return floats_.is_heavy[id.index] || op(id).ends_with("Pool") || op(id).ends_with("Normalization");
  }

  const ir::Model& model_;
  const FloatModel& floats_;
  const HalfOptions& options_;
  std::vector<bool> is_counted_;           // by value
  std::map<ir::ValueId, TypeTie> tie_of_;  // of what control flow hands on
  std::optional<ValueBounds> bounds_;      // made if an angle was not measured
  ExactValues found_;
};

}  // namespace

ExactValues find_exact_values(const ir::Model& model, const FloatModel& floats, const HalfOptions& options) {
  return ExactFinder(model, floats, options).find();
}

std::span<const std::string_view> exact_reasons() { return kReasons; }

}  // namespace assay::convert
