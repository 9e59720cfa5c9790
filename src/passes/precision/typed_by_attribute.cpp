#include "passes/precision/typed_by_attribute.h"

namespace assay::passes {

std::string_view type_attribute(const schema::Schema& schema) {
  if (!schema.domain.empty()) return {};
  if (schema.name == "Cast") return "to";
  return schema.name == "ConstantOfShape" ? "value" : "";
}

}  // namespace assay::passes
