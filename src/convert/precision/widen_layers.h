#pragma once

#include <string>
#include <vector>

#include "base/diagnostics.h"
#include "convert/layers.h"
#include "convert/precision/half_edit.h"
#include "ir/rewriter.h"

namespace assay::convert {

struct WideningReport {
  bool changed = false;
  std::vector<Layer> layers;  // that were named
  HalfEdits edits;
};

// The named layers of a model in float16 or bfloat16 compute in float32, with Casts between them and what stays; what
// goes from one of them to another is not rounded in between. Each is a step of the rewriter. Error (usage) for names
// that no node has.
WideningReport widen_layers(ir::Model& model, ir::Rewriter& rewriter, const std::vector<std::string>& names,
                            Diagnostics& findings);

}  // namespace assay::convert
