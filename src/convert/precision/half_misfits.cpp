#include "convert/precision/half_misfits.h"

#include <fmt/format.h>

#include "base/text.h"
#include "convert/precision/half_kernels.h"
#include "convert/precision/value_bounds.h"
#include "ir/queries.h"
#include "ir/written.h"
#include "ops/traits.h"

namespace assay::convert {
namespace {

class MisfitFinder {
 public:
  MisfitFinder(const ir::Model& model, const FloatModel& floats, const HalfOptions& options)
      : model_(model),
        floats_(floats),
        options_(options),
        largest_(largest_half(options.half)),
        flushed_(largest_flushed_half(options.half)),
        bounds_(model, floats, is_clamped() ? largest_ : HUGE_VAL),
        reasons_(model.node_slots()) {}

  std::vector<std::string> find() {
    for (const ir::NodeId node : floats_.nodes) {
      const ops::Callee& callee = floats_.callees[node];
      if (callee.function || !callee.schema || ir::is_constant_node(model_, node)) continue;
      std::string reason = misfit(node, *callee.schema);
      if (!reason.empty()) reasons_[node.index] = std::move(reason);
    }
    return std::move(reasons_);
  }

 private:
  bool is_clamped() const { return options_.overflow == HalfOverflow::clamp; }
  bool is_float(ir::ValueId value) const { return value && floats_.holds[value.index] == Holds::float32; }

  std::string misfit(ir::NodeId id, const schema::Schema& schema) {
    const ir::Node& node = model_[id];
    for (uint32_t i = 0; i < node.operands.size(); ++i) {
      const ir::ValueId value = node.operands[i].value;
      if (!is_float(value)) continue;
      if (is_too_large(value)) return {};
      const bool divides = is_divisor(ops::traits(model_, id), schema.name, node, i);
      std::string reason =
          float_constant(model_, value) ? constant_misfit(value, divides) : value_misfit(id, bounds_[value]);
      if (reason.empty() && divides && needs_small_numbers(schema.name, node, value)) {
        keep_small_numbers(value);
        reason = "small numbers that it works on would become 0";
      }
      if (!reason.empty()) return reason;
    }
    for (const ir::ValueId value : node.results) {
      if (!is_float(value)) continue;
      if (std::string reason = value_misfit(id, bounds_[value]); !reason.empty()) return reason;
    }
    return epsilon_misfit(node, schema);
  }

  // Such a constant is found, and said, where constants are converted.
  bool is_too_large(ir::ValueId value) const {
    const Bounds& bounds = bounds_[value];
    return !bounds.is_assumed && bounds.magnitude() > largest_ && float_constant(model_, value);
  }

  std::string constant_misfit(ir::ValueId value, bool divides) const {
    const Bounds& bounds = bounds_[value];
    const double lost = bounds.magnitude() <= flushed_ ? bounds.magnitude() : divides ? bounds.least() : 0;
    if (is_clamped() || bounds.is_assumed || lost == 0 || lost > flushed_) return {};
    return fmt::format("its constant `{}` has {:.3g}, which would become 0", printable(model_.text(model_[value].name)),
                       lost);
  }

  std::string value_misfit(ir::NodeId node, const Bounds& bounds) const {
    if (bounds.magnitude() > largest_ && !options_.measured.contains(node)) {
      return fmt::format("its values may reach {:.3g}", bounds.magnitude());
    }
    const bool is_flushed = bounds.least() > 0 && bounds.least() <= flushed_;
    return is_flushed ? fmt::format("its values may be as small as {:.3g}", bounds.least()) : "";
  }

  // True if a 0 in the place of this operand gives infinity or NaN.
  bool is_divisor(const ops::Traits& traits, std::string_view op, const ir::Node& node, uint32_t i) const {
    if (op == "Pow") return i == 0 && node.operands.size() > 1 && bounds_[node.operands[1].value].low < 0;
    return traits.divisors.contains(i) || (i == 0 && traits.domain == ops::Domain::positive);
  }

  bool needs_small_numbers(std::string_view op, const ir::Node& node, ir::ValueId value) const {
    const Bounds& bounds = bounds_[value];
    if (!bounds.is_positive || bounds.low > flushed_ || float_constant(model_, value)) return false;
    return bounds.low < 0 || op != "Div" || !bounds_.depends(value, node.operands[0].value);
  }

  // Keeps small numbers in float32, and the nodes that make them.
  void keep_small_numbers(ir::ValueId value) {
    if (model_[value].kind != ir::ValueKind::result || float_constant(model_, value)) return;
    const ir::NodeId producer = model_[value].producer;
    if (!reasons_[producer.index].empty()) return;
    reasons_[producer.index] = "its result is divided by, or its logarithm taken: small numbers would become 0";
    for (const ir::Use& use : model_[producer].operands) {
      if (is_float(use.value) && bounds_[use.value].is_positive && bounds_[use.value].low <= flushed_) {
        keep_small_numbers(use.value);
      }
    }
  }

  // Operators with a type for what they compute inside take the attribute in that.
  std::string epsilon_misfit(const ir::Node& node, const schema::Schema& schema) const {
    if (schema.find_attribute("stash_type") || schema.name == "SkipLayerNormalization") return {};
    const double number = ir::written_float(model_, node, "epsilon").value_or(0);
    return number > 0 && number <= flushed_ ? fmt::format("its epsilon {:.3g} would become 0", number) : "";
  }

  const ir::Model& model_;
  const FloatModel& floats_;
  const HalfOptions& options_;
  double largest_;
  double flushed_;
  ValueBounds bounds_;
  std::vector<std::string> reasons_;
};

}  // namespace

std::vector<std::string> find_misfits(const ir::Model& model, const FloatModel& floats, const HalfOptions& options) {
  // bfloat16 reaches as far as float32.
  if (!options.keeps_misfits || options.half != tensor::DType::float16)
    return std::vector<std::string>(model.node_slots());
  return MisfitFinder(model, floats, options).find();
}

}  // namespace assay::convert
