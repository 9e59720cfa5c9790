#include <limits>

#include <fmt/format.h>

#include "base/text.h"
#include "lint/check.h"
#include "ops/eval.h"
#include "ops/traits.h"

namespace assay::lint {
namespace {

constexpr int64_t kGreatestInt32 = std::numeric_limits<int32_t>::max();

// Ends of slices and counts of steps may be beyond everything: that is how "to the end" and "until it ends" are
// written.
bool has_indices(const ops::Traits& traits) {
  return !traits.clamps_sizes && (!traits.indices.is_empty() || !traits.sizes.is_empty());
}

void report_sizes(const Subject& subject, ir::NodeId id, Findings& findings) {
  const ir::Model& model = subject.model;
  for (const ir::ValueId result : model[id].results) {
    if (!result.valid()) continue;
    const ops::Type& type = subject.inference.type(result);
    if (!type.is_tensor() || !type.dims) continue;
    const std::optional<std::vector<int64_t>> shape = ops::numbers(*type.dims);
    const std::optional<uint64_t> count = shape ? tensor::element_count(*shape) : std::nullopt;
    if (!shape || (count && *count <= static_cast<uint64_t>(kGreatestInt32))) continue;
    findings.add(LintLevel::warning, kAnalysis, "int32_size", id,
                 fmt::format("`{}` has shape {}: more elements than 32-bit indices reach",
                             printable(model.text(model[result].name)), ops::text(*type.dims)));
  }
}

void report_indices(const Subject& subject, ir::NodeId id, uint32_t operand, Findings& findings) {
  const tensor::Tensor* constant = constant_operand(subject, subject.model[id], operand);
  if (!constant || constant->dtype() != tensor::DType::int64) return;
  for (const int64_t value : ops::load_elements<int64_t>(*constant)) {
    if (value >= std::numeric_limits<int32_t>::min() && value <= kGreatestInt32) continue;
    findings.add(LintLevel::warning, kAnalysis, "int32_overflow", id,
                 fmt::format("input {} holds {}, which 32-bit integers cannot hold", operand, value));
    return;
  }
}

void report_indices(const Subject& subject, ir::NodeId id, Findings& findings) {
  const ops::Traits& traits = ops::traits(subject.model, id);
  for (uint32_t i = 0; i < subject.model[id].operands.size(); ++i) {
    if (traits.indices.contains(i) || traits.sizes.contains(i)) report_indices(subject, id, i, findings);
  }
}

}  // namespace

Check check_index_range() {
  return {"tensors and indices beyond 32 bits",
          70,
          {{.at_node = report_sizes}, {.at_node = report_indices, .ops = ops::operators_that(has_indices)}}};
}

}  // namespace assay::lint
