#include "ops/traits.h"

#include <map>
#include <utility>

#include "ops/operator.h"
#include "schema/schema.h"

namespace assay::ops {
namespace {

using Table = std::map<std::pair<std::string_view, std::string_view>, Traits>;

Table table_of_all() {
  Table table;
  for (const Registered<OperatorRows>& file : registered_operators()) {
    for (const Operator& row : file.make()) table.try_emplace({row.domain, row.name}, row.traits);
  }
  return table;
}

const Table& all() {
  static const Table table = table_of_all();
  return table;
}

}  // namespace

const Traits& traits(std::string_view domain, std::string_view name) {
  static constexpr Traits kUnknown = Nature::unknown;
  const auto found = all().find({schema::canonical_domain(domain), name});
  return found != all().end() ? found->second : kUnknown;
}

const Traits& traits(const ir::Model& model, ir::NodeId node) {
  return traits(model.text(model[node].domain), model.text(model[node].op));
}

std::vector<std::string_view> operators_that(bool (*are)(const Traits& traits), std::string_view domain) {
  std::vector<std::string_view> names;
  for (const auto& [name, traits] : all()) {
    if (name.first == domain && are(traits)) names.push_back(name.second);
  }
  return names;
}

}  // namespace assay::ops
