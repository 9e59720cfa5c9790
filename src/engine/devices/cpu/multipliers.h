#pragma once

namespace assay::engine::cpu {

// True if multiply-adds of 64 bytes take as long as those of 32, as where the processor has multipliers for whole
// vectors of AVX-512. That is measured once, in some 100 us; without AVX-512 it is false.
bool has_whole_multipliers();

}  // namespace assay::engine::cpu
