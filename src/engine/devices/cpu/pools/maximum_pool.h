#pragma once

#include "engine/device/kernel.h"
#include "engine/devices/cpu/pools/pool_geometry.h"

namespace assay::engine::cpu {

std::unique_ptr<Kernel> make_maximum_pool(const PoolGeometry& geometry, tensor::DType dtype);

}  // namespace assay::engine::cpu
