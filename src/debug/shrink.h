#pragma once

#include <string>
#include <vector>

#include "base/function_ref.h"
#include "ir/model.h"
#include "tensor/named.h"

namespace assay::debug {

struct Shrunk {
  ir::Model model;
  tensor::NamedData inputs;
  std::vector<std::string> changes;  // in words: `size 64 to 1`
};

// True if a changed model still fails, fed these inputs.
using FailsStill =
    FunctionRef<bool(const ir::Model& model, const tensor::NamedData& inputs, const std::string& changed)>;

// Makes a failing model plainer as long as it still fails: outputs, optional operands and attributes go, sizes become
// 1 or a small power of two, with inputs and weights cut to their beginnings, weights become one number each, and the
// operator set the oldest in which its operators are the same. Models that break a rule of ONNX, or that the reference
// cannot run, are not asked about.
Shrunk shrink(const ir::Model& model, const tensor::NamedData& inputs, FailsStill fails_still);

}  // namespace assay::debug
