#pragma once

#include <string>

namespace assay::engine::cpu {

// Name, model and instruction sets of this processor, as far as kernels depend on them.
std::string processor();

}  // namespace assay::engine::cpu
