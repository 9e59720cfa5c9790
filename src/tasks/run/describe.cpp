#include "tasks/run/describe.h"

#include <fmt/format.h>

namespace assay::tasks {

results::RunValue describe(std::string_view name, const tensor::Datum& value) {
  results::RunValue result;
  result.name = name;
  result.is_tensor = value.is_tensor();
  if (value.is_tensor()) {
    result.type = tensor::name(value.declared());
    result.shape = value.tensor().shape();
  } else {
    result.type = value.is_sequence() ? fmt::format("sequence of {}", value.items().size())
                  : value.is_map()    ? "map"
                                      : "empty optional";
  }
  return result;
}

bool has_statistics(const tensor::Datum& value) {
  if (!value.is_tensor()) return false;
  const tensor::DTypeKind kind = tensor::kind(value.tensor().dtype());
  return kind != tensor::DTypeKind::string && kind != tensor::DTypeKind::complex && kind != tensor::DTypeKind::none;
}

}  // namespace assay::tasks
