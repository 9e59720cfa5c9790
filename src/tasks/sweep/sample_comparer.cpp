#include "tasks/sweep/sample_comparer.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "analysis/allowances.h"
#include "base/error.h"
#include "compare/compare_output.h"
#include "compare/runs/pairing.h"
#include "tasks/permitted.h"

namespace assay::tasks {
namespace {

tensor::NamedData flat(const tensor::NamedData& outputs) {
  tensor::NamedData parts;
  for (const tensor::NamedDatum& output : outputs) compare::flatten(output.name, output.value, parts);
  return parts;
}

}  // namespace

SampleComparer::SampleComparer(const SweepRequest& request, const OpenModel& model, const Sample& sample,
                               const tensor::NamedData& reference)
    : reference_(reference), options_(request.compare) {
  if (!request.computes_tolerance) return;
  const std::vector<std::string>& names = model.outputs();
  try {
    allowances_ = analysis::allowances(model.model(), sample.given, {names.begin(), names.end()},
                                       {.max_memory_bytes = request.session.max_memory_bytes,
                                        .max_steps = request.session.max_steps,
                                        .max_work = request.session.max_work,
                                        .least_roundoff = permitted_roundoff(request.sides, request.session.settings),
                                        .runs = analysis::kMovedRuns});
  } catch (const Error& error) {
    if (error.code() == ErrorCode::cancelled) throw;
    unknown_ = {.reason = "the reference cannot run the model: " + error.line(), .is_unknown = true};
  }
  options_.allowance = [this](const compare::ComparedAt&, std::string_view name_a, std::string_view, bool) {
    if (unknown_.is_unknown) return static_cast<const compare::Allowance*>(&unknown_);
    const auto found = allowances_.find(name_a);
    return found == allowances_.end() ? nullptr : static_cast<const compare::Allowance*>(&found->second);
  };
}

void SampleComparer::add(const results::OutputComparison& output) {
  const bool is_first_fault = !output.passed && result_.is_same;
  if (!output.passed) result_.is_same = false;
  if (!output.metrics) {
    if (is_first_fault) result_.output = output.name_a;
    if (!output.fault.empty()) result_.fault = output.fault;
    return;
  }
  const double abs = output.metrics->absolute.greatest;
  const bool is_greater = !(abs <= result_.max_abs) && !std::isnan(result_.max_abs);
  if (is_first_fault || (is_greater && (result_.is_same || !output.passed)) || result_.output.empty())
    result_.output = output.name_a;
  if (is_greater) result_.max_abs = abs;
  result_.is_measured = true;
  result_.max_rel = std::max(result_.max_rel, output.metrics->relative.greatest);
  result_.least_cosine = std::min(result_.least_cosine, output.metrics->cosine);
}

const SampleDifference& SampleComparer::compare(const tensor::NamedData& outputs) {
  result_ = {};
  const tensor::NamedData own = flat(outputs);
  const tensor::NamedData other = flat(reference_);
  for (const tensor::NamedDatum& part : own) {
    const auto partner = std::ranges::find(other, part.name, &tensor::NamedDatum::name);
    if (partner != other.end()) {
      add(compare::compare_output(part, *partner, options_, {}));
    } else {
      result_.is_same = false;
      result_.fault = fmt::format("the reference has no output `{}`", part.name);
    }
  }
  for (const tensor::NamedDatum& part : other) {
    if (std::ranges::find(own, part.name, &tensor::NamedDatum::name) != own.end()) continue;
    result_.is_same = false;
    result_.fault = fmt::format("there is no output `{}`", part.name);
  }
  return result_;
}

}  // namespace assay::tasks
