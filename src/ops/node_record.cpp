#include "ops/node_record.h"

#include <algorithm>

namespace assay::ops {

const Results* NodeRecord::find(std::span<const tensor::Datum> operands) const {
  const auto is_alike = [](const Operand& known, const tensor::Datum& datum) {
    if (!datum.is_tensor()) return datum.is_none() && known.stored == tensor::DType::undefined;
    return known.stored == datum.tensor().dtype() && known.declared == datum.declared() &&
           known.shape == datum.tensor().shape();
  };
  return has_results_ && std::ranges::equal(operands_, operands, is_alike) ? &results_ : nullptr;
}

void NodeRecord::keep(std::span<const tensor::Datum> operands, Results results) {
  const auto is_simple = [](const tensor::Datum& datum) { return datum.is_tensor() || datum.is_none(); };
  has_results_ = std::ranges::all_of(operands, is_simple);
  if (!has_results_) return;
  operands_.clear();
  for (const tensor::Datum& datum : operands) {
    operands_.emplace_back();
    if (datum.is_tensor()) operands_.back() = {datum.tensor().dtype(), datum.declared(), datum.tensor().shape()};
  }
  results_ = std::move(results);
}

}  // namespace assay::ops
