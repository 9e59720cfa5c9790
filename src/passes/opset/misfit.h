#pragma once

#include "passes/opset/adapters.h"

namespace assay::passes {

// The reason for which a node does not have the form of a schema: its arguments, attributes and their types. Empty if
// it has.
Refusal form_misfit(const Draft& draft, const schema::Schema& schema);
// The reason for which `schema` does not allow the types of a node that had the form of `source`. Types that are not
// known are taken as the source allows them. Types are asked for only if the source allows more.
Refusal type_misfit(const Draft& draft, const schema::Schema& source, const schema::Schema& schema);

}  // namespace assay::passes
