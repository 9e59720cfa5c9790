#pragma once

#include <memory>

#include "engine/devices/cpu/device.h"

namespace assay::engine::cpu {

// Products of rows by matrices that indices choose: `product.selected`. The rows of one matrix are multiplied together,
// and what is not chosen is not read.
std::unique_ptr<Implementation> selected_products();

}  // namespace assay::engine::cpu
