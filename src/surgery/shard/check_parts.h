#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/edit.h"
#include "ops/live_inference.h"

namespace assay::surgery {

// A value that a collective gives on each device: a part of this type along the dim, or, if that is none, the whole.
struct LocalPart {
  ir::ValueId value;
  ir::TypeId whole;
  std::optional<int64_t> dim;
};

// Infers the model with the shapes that a device has: what is made for the whole sequence does not fit them. Where the
// length is open, it does not fit parts of any length: two are tried. Types are as before afterwards. Returns the first
// node whose operands do not fit each other though all come from collectives; empty: none. Error (unsupported) for a
// node with an operand that is whole on each device.
std::string check_parts(ir::Model& model, ir::Edit& edit, ops::LiveInference& live, const std::vector<LocalPart>& parts,
                        int64_t devices);

}  // namespace assay::surgery
