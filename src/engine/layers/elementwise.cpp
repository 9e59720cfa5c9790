#include "engine/layers/elementwise.h"

#include <algorithm>
#include <array>

#include "engine/layers/quantization.h"

namespace assay::engine {
namespace {

constexpr std::array<std::string_view, 50> kOperators = {
    "Add",      "Sub",       "Mul",         "Div",      "Max",         "Min",
    "Relu",     "LeakyRelu", "PRelu",       "Sigmoid",  "Tanh",        "Elu",
    "Selu",     "HardSwish", "HardSigmoid", "Softplus", "Softsign",    "Gelu",
    "Mish",     "Erf",       "Exp",         "Log",      "Sqrt",        "Reciprocal",
    "Neg",      "Abs",       "Clip",        "Floor",    "Ceil",        "Pow",
    "Identity", "Cast",      "Less",        "Greater",  "LessOrEqual", "GreaterOrEqual",
    "Equal",    "And",       "Or",          "Xor",      "Not",         "Where",
    "Round",    "Sign",      "Sin",         "Cos",      "Celu",        "ThresholdedRelu",
    "IsNaN",    "IsInf"};

// True if a node has the form of one that is computed element by element, whatever its name.
bool has_simple_form(const ir::Model& model, const ir::Node& node, int64_t version) {
  constexpr std::array<std::string_view, 12> kOnceByAxis = {"Add",  "Sub",     "Mul",   "Div", "Pow", "PRelu",
                                                            "Less", "Greater", "Equal", "And", "Or",  "Xor"};
  constexpr int64_t kFirstWithBroadcasting = 7;
  const std::string_view op = model.text(node.op);
  const bool has_other_rules = std::ranges::find(kOnceByAxis, op) != kOnceByAxis.end();
  if (has_other_rules && version < kFirstWithBroadcasting) return false;
  if (op == "Max" || op == "Min") return node.operands.size() == 2;
  return node.operands.size() <= 3 && node.results.size() == 1;
}

bool has_known_dims(const ops::Inference& inference, ir::ValueId value) {
  const ops::Type& type = inference.type(value);
  return type.is_tensor() && type.dims &&
         std::ranges::all_of(*type.dims, [](const ops::Dim& dim) { return dim.is_number(); });
}

}  // namespace

bool is_elementwise(const ops::Inference& inference, const ir::Model& model, ir::NodeId id) {
  const ir::Node& node = model[id];
  if (!node.is_outputs && is_quantizer(model, inference, id)) return has_known_dims(inference, node.results.front());
  if (node.is_outputs || !model.text(node.domain).empty() || inference.callees()[id].op == nullptr) return false;
  if (std::ranges::find(kOperators, model.text(node.op)) == kOperators.end() ||
      !has_simple_form(model, node, inference.callees()[id].version)) {
    return false;
  }
  const auto has_type = [](tensor::DType dtype) {
    return dtype == tensor::DType::float32 || dtype == tensor::DType::bfloat16 || dtype == tensor::DType::float16 ||
           dtype == tensor::DType::boolean;
  };
  const auto is_known = [&](ir::ValueId value) {
    const ir::TensorId constant = model[value].constant;
    if (model[value].kind == ir::ValueKind::initializer && constant.valid() && !model[constant].sparse) {
      return has_type(model[constant].tensor.dtype());
    }
    const ops::Type& type = inference.type(value);
    return type.is_tensor() && has_type(type.dtype) && has_known_dims(inference, value);
  };
  for (const ir::Use& use : node.operands) {
    if (use.value.valid() && !is_known(use.value)) return false;
  }
  return is_known(node.results.front());
}

}  // namespace assay::engine
