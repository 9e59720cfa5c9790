#pragma once

#include "ir/model.h"

namespace assay::surgery {

// Makes a value of the main graph an input of this type, and gives that input. What defined it before keeps its place
// under another name, for as long as anything needs it.
ir::ValueId make_input(ir::Model& model, ir::ValueId value, ir::TypeId type);

}  // namespace assay::surgery
