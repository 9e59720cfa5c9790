#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "lint/check.h"
#include "ops/eval.h"

namespace assay::lint {
namespace {

// A constant operand that an operator must not see some values of.
struct Rule {
  std::string_view op;
  uint32_t operand;
  bool (*is_bad)(double);
  std::string_view code;
  std::string_view what;
};

bool is_zero(double x) { return x == 0; }
bool is_negative(double x) { return x < 0; }
bool is_not_positive(double x) { return x <= 0; }

constexpr Rule kRules[] = {
    {"Div", 1, is_zero, "division_by_zero", "the divisor"},
    {"Mod", 1, is_zero, "division_by_zero", "the divisor"},
    {"Reciprocal", 0, is_zero, "division_by_zero", "the operand"},
    {"Log", 0, is_not_positive, "log_of_non_positive", "the operand"},
    {"Sqrt", 0, is_negative, "sqrt_of_negative", "the operand"},
    {"QuantizeLinear", 1, is_not_positive, "bad_scale", "the scale"},
    {"DequantizeLinear", 1, is_zero, "bad_scale", "the scale"},
    {"QLinearConv", 1, is_not_positive, "bad_scale", "the scale"},
    {"QLinearMatMul", 1, is_not_positive, "bad_scale", "the scale"},
    {"BatchNormalization", 4, is_negative, "negative_variance", "the variance"},
};

void apply(const Subject& subject, const Rule& rule, ir::NodeId id, Findings& findings) {
  const tensor::Tensor* constant = constant_operand(subject, subject.model[id], rule.operand);
  const bool has_numbers =
      constant && (tensor::is_floating(constant->dtype()) || tensor::is_integer(constant->dtype()));
  if (!has_numbers) return;
  const std::vector<double> values = ops::load_elements<double>(*constant);
  const auto count = std::ranges::count_if(values, rule.is_bad);
  if (count == 0) return;
  const double first = *std::ranges::find_if(values, rule.is_bad);
  findings.add(
      LintLevel::warning, kAnalysis, rule.code, id,
      fmt::format("{} `{}` is constant and {:.6g} at {} of {} places", rule.what,
                  printable(subject.model.text(subject.model[subject.model[id].operands[rule.operand].value].name)),
                  first, count, values.size()));
}

void report_arithmetic(const Subject& subject, ir::NodeId id, Findings& findings) {
  if (subject.model[id].domain != ir::kEmpty && subject.model.text(subject.model[id].domain) != "ai.onnx") return;
  for (const Rule& rule : kRules) {
    if (rule.op == subject.model.text(subject.model[id].op)) apply(subject, rule, id, findings);
  }
}

std::vector<std::string_view> ops_of_rules() {
  std::vector<std::string_view> ops;
  for (const Rule& rule : kRules) ops.push_back(rule.op);
  return ops;
}

}  // namespace

Check check_arithmetic() {
  return {
      "division by a constant zero, logarithms and roots of constants that have none, scales that are 0 or, of what is "
      "quantized, below",
      55,
      {{.at_node = report_arithmetic, .ops = ops_of_rules()}}};
}

}  // namespace assay::lint
