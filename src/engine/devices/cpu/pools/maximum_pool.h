#pragma once

#include "engine/device/kernel.h"
#include "engine/layers/pool.h"

namespace assay::engine::cpu {

std::unique_ptr<Kernel> make_maximum_pool(const PoolForm& geometry, tensor::DType dtype);

}  // namespace assay::engine::cpu
