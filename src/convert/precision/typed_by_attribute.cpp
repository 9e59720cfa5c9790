#include "convert/precision/typed_by_attribute.h"

#include "ops/traits.h"

namespace assay::convert {

std::string_view type_attribute(const schema::Schema& schema) {
  const ops::Traits& traits = ops::traits(schema.domain, schema.name);
  const bool fills = traits.is(ops::Nature::generator) && traits.typed_by == "value";
  return fills || traits.is_cast() ? traits.typed_by : "";
}

}  // namespace assay::convert
