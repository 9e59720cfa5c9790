#include "passes/elementwise.h"

#include <algorithm>
#include <array>

#include "ir/queries.h"

namespace assay::passes {
namespace {

constexpr auto kOps = std::to_array<std::string_view>({
    "Abs",
    "Acos",
    "Acosh",
    "Add",
    "And",
    "Asin",
    "Asinh",
    "Atan",
    "Atanh",
    "BitShift",
    "BitwiseAnd",
    "BitwiseNot",
    "BitwiseOr",
    "BitwiseXor",
    "Cast",
    "Ceil",
    "Celu",
    "Clip",
    "Cos",
    "Cosh",
    "Div",
    "Elu",
    "Equal",
    "Erf",
    "Exp",
    "Floor",
    "Gelu",
    "Greater",
    "GreaterOrEqual",
    "HardSigmoid",
    "HardSwish",
    "IsInf",
    "IsNaN",
    "LeakyRelu",
    "Less",
    "LessOrEqual",
    "Log",
    "Max",
    "Mean",
    "Min",
    "Mish",
    "Mod",
    "Mul",
    "Neg",
    "Not",
    "Or",
    "PRelu",
    "Pow",
    "Reciprocal",
    "Relu",
    "Round",
    "Selu",
    "Shrink",
    "Sigmoid",
    "Sign",
    "Sin",
    "Sinh",
    "Softplus",
    "Softsign",
    "Sqrt",
    "Sub",
    "Sum",
    "Tan",
    "Tanh",
    "ThresholdedRelu",
    "Where",
    "Xor",
});
static_assert(std::ranges::is_sorted(kOps));

}  // namespace

bool is_elementwise(std::string_view op) { return std::ranges::binary_search(kOps, op); }

bool is_elementwise(PassRun& run, ir::NodeId node) {
  const ir::Model& model = run.model();
  if (!node || model[node].is_outputs || has_references(model[node])) return false;
  const std::string_view op = model.text(model[node].op);
  if (!is_elementwise(op) || !run.is_op(node, op)) return false;
  return run.facts(node).version() >= 8;  // before, some broadcast along an axis, or not at all
}

}  // namespace assay::passes
