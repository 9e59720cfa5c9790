#include "report/inspect/text_sparsity.h"

#include <fmt/format.h>

#include "base/text.h"

namespace assay::report {

std::string sparsity_line(const results::WeightSparsity& weight) {
  return fmt::format("Found {}sparse tensor: {}", weight.sparse ? "" : "non-", printable(weight.name));
}

std::string sparsity_details(const results::WeightSparsity& weight) {
  std::string text =
      fmt::format("{} [dtype={}, shape=[{}]], axis {}: {:.1f}% zeros, {} of {} groups with fewer than 2 zeros",
                  printable(weight.name), weight.dtype, fmt::join(weight.shape, ", "), weight.axis,
                  100 * weight.zero_fraction, weight.bad_group_count, weight.group_count);
  if (!weight.first_bad.empty()) text += fmt::format(", the first at [{}]", fmt::join(weight.first_bad, ", "));
  return text;
}

std::string skipped_line(const results::SkippedWeight& skipped) {
  const bool is_produced = skipped.reason.starts_with("produced by");
  const std::string text = is_produced ? fmt::format("({}) {}", skipped.name, skipped.reason)
                                       : fmt::format("Skipping tensor: {} {}", skipped.name, skipped.reason);
  return printable(text);
}

}  // namespace assay::report
