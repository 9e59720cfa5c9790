#include "ops/operator.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "schema/schema.h"

namespace assay::ops {
namespace {

bool stands_before(const Operator& a, const Operator& b) {
  return std::tie(a.domain, a.name, a.since) < std::tie(b.domain, b.name, b.since);
}

std::vector<Operator> sorted_rows() {
  std::vector<Operator> rows;
  for (const Registered<OperatorRows>& file : registered_operators()) {
    const OperatorRows more = file.make();
    rows.insert(rows.end(), more.begin(), more.end());
  }
  std::ranges::sort(rows, stands_before);
  return rows;
}

const std::vector<Operator>& all_rows() {
  static const std::vector<Operator> rows = sorted_rows();
  return rows;
}

}  // namespace

const Operator* find_operator(std::string_view domain, std::string_view name, int64_t version) {
  const std::vector<Operator>& rows = all_rows();
  const Operator wanted{.domain = schema::canonical_domain(domain), .name = name, .since = version};
  const auto after = std::ranges::upper_bound(rows, wanted, stands_before);
  if (after == rows.begin()) return nullptr;
  const Operator& row = *std::prev(after);
  return row.domain == wanted.domain && row.name == name ? &row : nullptr;
}

}  // namespace assay::ops
