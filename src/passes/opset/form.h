#pragma once

#include "ir/model.h"
#include "schema/schema.h"

namespace assay::passes {

// The form of an operator: its arguments, attributes and types, as a schema states them.

bool is_subset(const schema::TypeSet& a, const schema::TypeSet& b);
// True if a tensor of this element type is in the set.
bool is_in(tensor::DType dtype, const schema::TypeSet& types);
// True if the two agree in everything but that the newer one may allow more types, or fewer of a node's types to be
// equal: then each node of the older form has the newer one too.
bool only_widens_types(const schema::Schema& older, const schema::Schema& newer);
// True if a written attribute equals its default.
bool is_default(const ir::Model& model, const ir::Attribute& written, const schema::AttributeSchema& attribute);

}  // namespace assay::passes
