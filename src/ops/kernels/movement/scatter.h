#pragma once

#include <span>
#include <vector>

#include "ops/eval.h"

namespace assay::ops {

// The effect of an update on its element.
enum class Reduction : uint8_t { none, add, multiply, largest, smallest };

// The attribute `reduction`, where the version of the operator has it. Error where it is not known to that version.
Reduction reduction_of(const Node& node);

// output 0 = input 0 with `run` elements from targets[i] on replaced by, or combined with, those of input 2 from i *
// run on, for i ascending.
void scatter(Eval& node, std::span<const uint64_t> targets, uint64_t run, Reduction reduction);

}  // namespace assay::ops
