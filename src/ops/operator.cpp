#include "ops/operator.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <vector>

#include "ops/shapes_alone.h"
#include "schema/schema.h"

namespace assay::ops {
namespace {

std::tuple<std::string_view, std::string_view, int64_t> key(const Operator& row) {
  return {row.domain, row.name, row.since};
}

using Rows = std::vector<Operator>;

Rows sorted_rows(bool (*wants)(const Operator& row)) {
  Rows rows;
  for (const Registered<OperatorRows>& file : registered_operators()) {
    std::ranges::copy_if(file.make(), std::back_inserter(rows), wants);
  }
  std::ranges::sort(rows, {}, key);
  return rows;
}

const Operator* find_in(const Rows& rows, std::string_view domain, std::string_view name, int64_t version) {
  domain = schema::canonical_domain(domain);
  const auto after = std::ranges::upper_bound(rows, std::tuple(domain, name, version), {}, key);
  if (after == rows.begin()) return nullptr;
  const Operator& row = *std::prev(after);
  return row.domain == domain && row.name == name ? &row : nullptr;
}

}  // namespace

const Operator* find_operator(std::string_view domain, std::string_view name, int64_t version) {
  static const Rows rows = sorted_rows([](const Operator& row) { return row.eval != nullptr; });
  return find_in(rows, domain, name, version);
}

const Operator* find_shapes_alone(const Node& node) {
  static const Rows rows = sorted_rows([](const Operator& row) { return row.eval == nullptr && row.infer != nullptr; });
  if (node.schema() == nullptr) return nullptr;
  return find_in(rows, node.model().text(node.ir_node().domain), node.op(), node.version());
}

}  // namespace assay::ops
