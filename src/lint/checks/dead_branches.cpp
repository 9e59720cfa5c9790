#include <algorithm>

#include <fmt/format.h>

#include "lint/check.h"
#include "ops/eval.h"
#include "ops/traits.h"

namespace assay::lint {
namespace {

std::optional<double> only_number(const tensor::Tensor* constant) {
  if (!constant || constant->count() != 1) return std::nullopt;
  const bool is_number = tensor::is_integer(constant->dtype()) || constant->dtype() == tensor::DType::boolean;
  if (!is_number) return std::nullopt;
  return ops::load_elements<double>(*constant).front();
}

void check_branches(const Subject& subject, ir::NodeId id, Findings& findings) {
  const std::optional<double> condition = only_number(constant_operand(subject, subject.model[id], 0));
  if (!condition) return;
  findings.add(LintLevel::warning, kAnalysis, "dead_branch", id,
               fmt::format("its condition is always {}: the {} never runs", *condition != 0 ? "true" : "false",
                           *condition != 0 ? "else_branch" : "then_branch"));
}

void check_body(const Subject& subject, ir::NodeId id, Findings& findings) {
  const std::optional<double> trips = only_number(constant_operand(subject, subject.model[id], 0));
  const std::optional<double> condition = only_number(constant_operand(subject, subject.model[id], 1));
  if ((trips && *trips <= 0) || (condition && *condition == 0)) {
    findings.add(LintLevel::warning, kAnalysis, "dead_branch", id, "its body never runs");
  }
}

void check_control(const Subject& subject, ir::NodeId id, Findings& findings) {
  const ops::Bodies bodies = ops::traits(subject.model, id).bodies;
  if (bodies == ops::Bodies::one_of_two) check_branches(subject, id, findings);
  if (bodies == ops::Bodies::again) check_body(subject, id, findings);
}

void check_where(const Subject& subject, ir::NodeId id, Findings& findings) {
  const tensor::Tensor* constant = constant_operand(subject, subject.model[id], 0);
  if (!constant || constant->count() == 0 || constant->dtype() != tensor::DType::boolean) return;
  const std::vector<uint64_t> values = ops::load_elements<uint64_t>(*constant);
  const bool is_uniform = std::ranges::all_of(values, [&](uint64_t value) { return value == values.front(); });
  if (!is_uniform) return;
  findings.add(LintLevel::warning, kAnalysis, "dead_branch", id,
               fmt::format("its condition is always {}: input {} is never taken", values.front() ? "true" : "false",
                           values.front() ? 2 : 1));
}

}  // namespace

Check check_dead_branches() {
  return {"branches and loop bodies that never run",
          65,
          {{.at_node = check_control,
            .ops = ops::operators_that([](const ops::Traits& traits) { return !traits.decisions.is_empty(); })},
           {.at_node = check_where, .ops = {"Where"}}}};
}

}  // namespace assay::lint
