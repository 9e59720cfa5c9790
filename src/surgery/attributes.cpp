#include "ir/attribute_value.h"
#include "surgery/insert.h"

namespace assay::surgery {

ir::Attribute attribute_of(ir::Model& model, const NamedAttribute& attribute) {
  return ir::make_attribute(model, attribute.name, attribute.value);
}

}  // namespace assay::surgery
