#pragma once

#include <cstdint>

namespace assay::engine::cpu {

// The number of parts of at most so many items.
inline int64_t parts_of(int64_t count, int64_t most) { return (count + most - 1) / most; }
inline int64_t rounded_up(int64_t count, int64_t step) { return parts_of(count, step) * step; }

}  // namespace assay::engine::cpu
