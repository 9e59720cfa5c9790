#pragma once

#include "backends/onnxrt/ort_library.h"
#include "ir/model.h"

namespace assay::backends::ort {

// An empty sequence or an empty optional of this type. The library's C interface has no function for it, so that a
// model of one node makes it. Error (unsupported) for other types.
Owned<Value> make_empty(const Library& library, const ir::TypeTable& types, ir::TypeId type);

}  // namespace assay::backends::ort
