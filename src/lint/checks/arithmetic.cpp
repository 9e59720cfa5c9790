#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "lint/check.h"
#include "ops/eval.h"
#include "ops/traits.h"

namespace assay::lint {
namespace {

// Values that an operator must not see in a constant operand.
struct Rule {
  bool (*is_bad)(double);
  std::string_view code;
  std::string_view what;
};

bool is_zero(double x) { return x == 0; }
bool is_negative(double x) { return x < 0; }
bool is_not_positive(double x) { return x <= 0; }

std::optional<Rule> rule_of(const ops::Traits& traits, uint32_t operand) {
  if (traits.divisors.contains(operand))
    return Rule{is_zero, "division_by_zero", operand == 0 ? "the operand" : "the divisor"};
  if (operand == 0 && traits.domain == ops::Domain::positive)
    return Rule{is_not_positive, "log_of_non_positive", "the operand"};
  if (operand == 0 && traits.domain == ops::Domain::not_negative)
    return Rule{is_negative, "sqrt_of_negative", "the operand"};
  if (traits.scales.contains(operand))
    return Rule{traits.decodes() ? is_zero : is_not_positive, "bad_scale", "the scale"};
  if (traits.variances.contains(operand)) return Rule{is_negative, "negative_variance", "the variance"};
  return std::nullopt;
}

void apply(const Subject& subject, const Rule& rule, ir::NodeId id, uint32_t operand, Findings& findings) {
  const tensor::Tensor* constant = constant_operand(subject, subject.model[id], operand);
  const bool has_numbers =
      constant && (tensor::is_floating(constant->dtype()) || tensor::is_integer(constant->dtype()));
  if (!has_numbers) return;
  const std::vector<double> values = ops::load_elements<double>(*constant);
  const auto count = std::ranges::count_if(values, rule.is_bad);
  if (count == 0) return;
  const double first = *std::ranges::find_if(values, rule.is_bad);
  findings.add(LintLevel::warning, kAnalysis, rule.code, id,
               fmt::format("{} `{}` is constant and {:.6g} at {} of {} places", rule.what,
                           printable(subject.model.text(subject.model[subject.model[id].operands[operand].value].name)),
                           first, count, values.size()));
}

void report_arithmetic(const Subject& subject, ir::NodeId id, Findings& findings) {
  const ops::Traits& traits = ops::traits(subject.model, id);
  for (uint32_t i = 0; i < subject.model[id].operands.size(); ++i) {
    if (const std::optional<Rule> rule = rule_of(traits, i)) apply(subject, *rule, id, i, findings);
  }
}

}  // namespace

Check check_arithmetic() {
  return {
      "division by a constant zero, logarithms and roots of constants that have none, scales that are 0 or, of what is "
      "quantized, below",
      55,
      {{.at_node = report_arithmetic}}};
}

}  // namespace assay::lint
