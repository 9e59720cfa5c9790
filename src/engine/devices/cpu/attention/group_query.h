#pragma once

#include <memory>

#include "engine/devices/cpu/device.h"
#include "engine/layers/group_query.h"

namespace assay::engine::cpu {

std::unique_ptr<Kernel> make_group_query(const GroupQuery& form);

}  // namespace assay::engine::cpu
