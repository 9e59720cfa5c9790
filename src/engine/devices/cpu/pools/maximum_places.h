#pragma once

#include "engine/device/kernel.h"
#include "engine/layers/pool.h"

namespace assay::engine::cpu {

// A MaxPool that also gives the places of the greatest elements, of operands and results in either layout; null: a
// window is too large for it.
std::unique_ptr<Kernel> make_maximum_places(const PoolForm& geometry, tensor::DType dtype, bool is_column_major,
                                            Layout layout);

}  // namespace assay::engine::cpu
