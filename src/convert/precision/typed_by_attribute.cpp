#include "convert/precision/typed_by_attribute.h"

namespace assay::convert {

std::string_view type_attribute(const schema::Schema& schema) {
  if (!schema.domain.empty()) return {};
  if (schema.name == "Cast") return "to";
  return schema.name == "ConstantOfShape" ? "value" : "";
}

}  // namespace assay::convert
