#include "convert/precision/half_rules.h"

#include <algorithm>

#include "base/text.h"
#include "convert/precision/half_misfits.h"
#include "ir/written.h"
#include "ops/traits.h"

namespace assay::convert {
namespace {

// Operators whose results are converted afterwards: hardly any backend makes them in 16 bits, and it is cheap.
bool generates(const ops::Traits& traits, const schema::Schema& schema) {
  const schema::AttributeSchema* const type = schema.find_attribute(traits.typed_by);
  return traits.is(ops::Nature::generator) && type && type->type == ir::AttributeType::integer;
}

// True where 16 bits only cost accuracy: results are decided by rounding, or summed up over a whole axis.
bool is_pointless(const ops::Traits& traits, std::string_view op) {
  return traits.is(ops::Nature::quantization) || op == "CumSum" || op == "MeanVarianceNormalization";
}

// The numbers that codes stand for, or the sums of products of codes.
bool makes_quantized(const ops::Traits& traits, std::string_view op) {
  return (traits.is(ops::Nature::quantization) && !traits.encodes()) || op.ends_with("Integer");
}

}  // namespace

HalfRules::HalfRules(const ir::Model& model, const HalfOptions& options, const FloatModel& floats,
                     Diagnostics& findings)
    : model_(model),
      callees_(floats.callees),
      holds_(floats.holds),
      filter_(model, floats.nodes, options.choice, findings),
      forced_(match::named_nodes(model, floats.nodes, options.forced, findings)),
      misfits_(find_misfits(model, floats, options)),
      exact_(find_exact_values(model, floats, options)),
      quantized_(model.value_slots()) {
  for (const ir::NodeId node : options.forced_nodes) forced_[node.index] = true;
}

void HalfRules::note_sources(ir::NodeId id) {
  if (callees_[id].function || !callees_[id].schema) return;
  const ir::Node& node = model_[id];
  const schema::Schema& schema = *callees_[id].schema;
  bool is_quantized = makes_quantized(ops::traits(model_, id), schema.name);
  if (ops::traits(model_, id).is_cast() && !node.operands.empty() && node.operands[0].value) {
    const ir::ValueId from = node.operands[0].value;
    is_quantized = quantized_[from.index] && holds_[from.index] != Holds::float32;
  }
  for (const ir::ValueId result : node.results) {
    if (result) quantized_[result.index] = is_quantized;
  }
}

std::string HalfRules::reason_to_stay(ir::NodeId id) const {
  const ir::Node& node = model_[id];
  const ops::Callee& callee = callees_[id];
  if (callee.function) return "it calls a function of the model";
  if (!callee.schema) return "its operator is not known";
  if (std::string reason = filter_.refusal(id, callee.schema->name); !reason.empty()) return reason;
  if (std::string reason = unfit_values(node); !reason.empty()) return reason;
  const ops::Traits& traits = ops::traits(model_, id);
  if (generates(traits, *callee.schema)) return "it generates its result";
  if (forced_[id.index]) return {};
  if (is_pointless(traits, callee.schema->name)) return "its result would only lose accuracy";
  if (callee.schema->name == "Clip" && is_cast_to_half(node)) return "what it cuts off would become infinite";
  if (is_quantized(node)) return "it works on quantized values";
  if (!exact_.reasons[id.index].empty()) return std::string(exact_.reasons[id.index]);
  if (scatters_sums(id)) return "ONNX Runtime has no such sums of 16 bits";
  return misfits_[id.index];
}

std::string HalfRules::unfit_values(const ir::Node& node) const {
  bool has_list = false;
  bool has_unknown = false;
  const auto look = [&](ir::ValueId value) {
    has_list = has_list || (value && holds_[value.index] == Holds::list);
    has_unknown = has_unknown || (value && holds_[value.index] == Holds::unknown);
  };
  for (const ir::Use& use : node.operands) look(use.value);
  for (const ir::ValueId value : node.results) look(value);
  if (has_list) return "sequences and optionals stay float32";
  return has_unknown ? "the types of its values are not known" : "";
}

// True if only Casts to half use the result.
bool HalfRules::is_cast_to_half(const ir::Node& node) const {
  const ir::ValueId result = node.results.empty() ? ir::ValueId{} : node.results[0];
  if (!is_float(result) || !model_[result].first_use) return false;
  for (const ir::Use& use : ir::uses(model_, result)) {
    const ir::Node& user = model_[use.user];
    const bool is_cast =
        !user.is_outputs && ops::traits(model_, use.user).is_cast() && !user.results.empty() && user.results[0];
    if (!is_cast || holds_[user.results[0].index] != Holds::half) return false;
  }
  return true;
}

bool HalfRules::is_quantized(const ir::Node& node) const {
  const auto is_source = [this](const ir::Use& use) { return is_float(use.value) && quantized_[use.value.index]; };
  if (std::ranges::any_of(node.operands, is_source)) return true;
  bool feeds_quantizers = false;
  for (const ir::ValueId result : node.results) {
    if (!is_float(result)) continue;
    for (const ir::Use& use : ir::uses(model_, result)) {
      const ops::Traits& user = ops::traits(model_, use.user);
      if (!user.is(ops::Nature::quantization) || user.decodes()) return false;
      feeds_quantizers = true;
    }
  }
  return feeds_quantizers;
}

// A scattering that combines what meets at one place.
bool HalfRules::scatters_sums(ir::NodeId id) const {
  return ops::traits(model_, id).is(ops::Nature::movement) &&
         ir::written_word(model_, model_[id], "reduction").value_or("none") != "none";
}

}  // namespace assay::convert
