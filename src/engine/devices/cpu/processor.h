#pragma once

#include <vector>

#include "engine/device/fingerprint.h"

namespace assay::engine::cpu {

// Name, model and instruction sets of this processor, as far as kernels depend on them.
std::vector<Fingerprint::Part> processor_parts();

// True if the processor has the instructions of kernels compiled for these sets, and the environment variable
// ASSAY_INSTRUCTIONS (base, avx2, avx512 or all) permits them. Error (usage) if that is another word.
bool has_avx512();       // f, bw, dq, vl
bool has_avx512_vnni();  // and these
bool has_avx512_bf16();  // likewise
bool has_avx2();         // and fma

}  // namespace assay::engine::cpu
