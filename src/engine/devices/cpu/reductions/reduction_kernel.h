#pragma once

#include <memory>
#include <optional>

#include "engine/devices/cpu/device.h"
#include "engine/devices/cpu/tape/tape.h"
#include "engine/layers/reduction.h"

namespace assay::engine::cpu {

// The elements of the first input, or those that a tape computes, in tiles that stay in the first cache: the whole is
// in no memory then.
struct ReducedElements {
  tensor::DType dtype = tensor::DType::float32;
  std::optional<Tape> tape;
};

// The order of sums does not depend on where the elements come from, nor on the number of threads.
std::unique_ptr<Kernel> make_reduction(Reduction::Kind kind, const ReductionExtents& extents, ReducedElements elements);

}  // namespace assay::engine::cpu
