#pragma once

#include "passes/opset/adapters.h"

namespace assay::passes {

// Why a node has not the form of a schema: its arguments, attributes and their types. Empty if it has.
Refusal form_misfit(const Draft& draft, const schema::Schema& schema);
// Why the types of a node that had the form of `source` are none that `schema` allows. Types that are not known are
// taken as the source allows them. Types are asked for only where the source allows more.
Refusal type_misfit(const Draft& draft, const schema::Schema& source, const schema::Schema& schema);

}  // namespace assay::passes
