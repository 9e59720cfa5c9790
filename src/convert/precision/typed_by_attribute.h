#pragma once

#include <string_view>

#include "ir/model.h"
#include "schema/schema.h"

namespace assay::convert {

// The attribute that says of which type a node's result is, where that may be any: `to` of Cast, the `value` of
// ConstantOfShape. Empty for other operators.
std::string_view type_attribute(const schema::Schema& schema);

}  // namespace assay::convert
