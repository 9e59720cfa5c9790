#pragma once

#include "ir/model.h"

namespace assay::surgery {

// Makes a value of the main graph an input of this type, and returns that input. Its former definition is kept
// under another name while anything needs it.
ir::ValueId make_input(ir::Model& model, ir::ValueId value, ir::TypeId type);

}  // namespace assay::surgery
