#pragma once

#include "ir/edit.h"
#include "schema/schema.h"

namespace assay::passes {

// The place of a node that hands a value on under another name.
struct HandedOn {
  ir::GraphId graph;
  ir::ValueId value;
  ir::Symbol result;
  ir::NodeId before = {};  // invalid: at the end
};

// Adds an Identity.
ir::NodeId add_identity(ir::Edit& edit, const HandedOn& place);
// Adds a Cast to an element type.
ir::NodeId add_cast(ir::Edit& edit, const HandedOn& place, tensor::DType to);
// The schema of the Cast of a version of ai.onnx; nullptr: it has none.
const schema::Schema* cast_schema(int64_t version);
// Turns a node into an Identity of its first operand.
void make_identity(ir::Edit& edit, ir::NodeId node);

}  // namespace assay::passes
