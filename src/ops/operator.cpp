#include "ops/operator.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <vector>

#include "schema/schema.h"

namespace assay::ops {
namespace {

std::tuple<std::string_view, std::string_view, int64_t> key(const Operator& row) {
  return {row.domain, row.name, row.since};
}

std::vector<Operator> sorted_rows() {
  std::vector<Operator> rows;
  for (const Registered<OperatorRows>& file : registered_operators()) {
    const OperatorRows more = file.make();
    std::ranges::copy_if(more, std::back_inserter(rows), [](const Operator& row) { return row.eval != nullptr; });
  }
  std::ranges::sort(rows, {}, key);
  return rows;
}

const std::vector<Operator>& all_rows() {
  static const std::vector<Operator> rows = sorted_rows();
  return rows;
}

}  // namespace

const Operator* find_operator(std::string_view domain, std::string_view name, int64_t version) {
  const std::vector<Operator>& rows = all_rows();
  domain = schema::canonical_domain(domain);
  const auto after = std::ranges::upper_bound(rows, std::tuple(domain, name, version), {}, key);
  if (after == rows.begin()) return nullptr;
  const Operator& row = *std::prev(after);
  return row.domain == domain && row.name == name ? &row : nullptr;
}

}  // namespace assay::ops
