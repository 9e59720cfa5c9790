#include "surgery/sparsity/sparsity.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "surgery/sparsity/scan.h"
#include "surgery/sparsity/weights.h"
#include "surgery/sparsity/zero.h"
#include "tensor/index.h"

namespace assay::surgery {
namespace {

using results::SkippedWeight;
using results::WeightSparsity;

constexpr int64_t kGroup = 4;

// The reason for which the weight is not eligible; empty: it is.
std::optional<SkippedWeight> refusal(const ir::Model& model, const SparsityCandidate& candidate) {
  const ir::TensorEntry& entry = model[candidate.tensor];
  if (entry.sparse) return SkippedWeight{candidate.name, "it is stored as a sparse tensor", true};
  const tensor::Tensor& tensor = entry.tensor;
  if (!has_zero(tensor.dtype(), candidate.dequantize.valid())) {
    return SkippedWeight{candidate.name, fmt::format("due to unsupported type: {}", name(tensor.dtype())), true};
  }
  const int64_t rank = static_cast<int64_t>(tensor.shape().size());
  if (candidate.axis < 0 || candidate.axis >= rank) {
    return SkippedWeight{candidate.name, fmt::format("since its rank is {}", rank), true};
  }
  const int64_t length = tensor.shape()[static_cast<size_t>(candidate.axis)];
  if (length % kGroup == 0 && tensor.count() > 0) return {};
  return SkippedWeight{candidate.name,
                       fmt::format("since the length of axis {} ({} in [{}]) is not a multiple of 4", candidate.axis,
                                   length, fmt::join(tensor.shape(), ", ")),
                       false};
}

}  // namespace

std::vector<SparsityCandidate> eligible_weights(const ir::Model& model, std::vector<SkippedWeight>& skipped) {
  std::vector<SparsityCandidate> eligible;
  for (SparsityCandidate& candidate : find_sparsity_candidates(model, skipped)) {
    std::optional<SkippedWeight> reason = refusal(model, candidate);
    reason ? skipped.push_back(std::move(*reason)) : eligible.push_back(std::move(candidate));
  }
  return eligible;
}

WeightSparsity check_sparsity(const ir::Model& model, const SparsityCandidate& candidate) {
  const tensor::Tensor& tensor = model[candidate.tensor].tensor;
  const AxisView view = ops::view_axis(tensor.shape(), candidate.axis);
  const ZeroView zeros = view_zeros(model, tensor, candidate.dequantize);
  const SparsityCounts counts = scan_groups(zeros.bytes(), view, zeros.pattern);
  WeightSparsity result;
  result.name = candidate.name;
  result.dtype = name(tensor.dtype());
  result.shape = tensor.shape();
  result.axis = candidate.axis;
  result.sparse = counts.bad_groups == 0;
  result.zero_fraction = static_cast<double>(counts.zeros) / static_cast<double>(tensor.count());
  result.group_count = tensor.count() / kGroup;
  result.bad_group_count = counts.bad_groups;
  if (counts.first_bad) result.first_bad = tensor::index_of(*counts.first_bad, tensor.shape());
  return result;
}

results::SparsityReport inspect_sparsity(const ir::Model& model) {
  results::SparsityReport report;
  for (const SparsityCandidate& candidate : eligible_weights(model, report.skipped)) {
    const std::variant<WeightSparsity, Error> result = attempt([&] { return check_sparsity(model, candidate); });
    if (const Error* error = std::get_if<Error>(&result)) {
      report.skipped.push_back({candidate.name, fmt::format("since it cannot be read: {}", error->line()), true});
    } else {
      report.weights.push_back(std::get<WeightSparsity>(result));
    }
  }
  return report;
}

}  // namespace assay::surgery
