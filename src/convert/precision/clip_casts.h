#pragma once

#include <string>
#include <vector>

#include "base/diagnostics.h"
#include "convert/layers.h"
#include "ir/rewriter.h"

namespace assay::convert {

// Puts a Clip before each of the named Casts, so that finite and infinite numbers beyond their type become its
// greatest. Each is a step of the rewriter. The layers are those that were named; error (usage) for names that no node
// has.
std::vector<Layer> clip_casts(ir::Model& model, ir::Rewriter& rewriter, const std::vector<std::string>& names,
                              Diagnostics& findings);

}  // namespace assay::convert
