#pragma once

#include <vector>

#include "engine/device/fingerprint.h"

namespace assay::engine::cpu {

// Name, model and instruction sets of this processor, as far as kernels depend on them.
std::vector<Fingerprint::Part> processor_parts();

// True if the processor has the instructions of kernels compiled for these sets, and the environment variable
// ASSAY_INSTRUCTIONS (base, avx2, avx512, vnni, amx or all) permits them. Error (usage) if that is another word.
bool has_avx512();       // f, bw, dq, vl
bool has_avx512_vnni();  // and these
bool has_avx512_bf16();  // likewise
bool has_avx512_vbmi();
bool has_avx2();  // and fma
// Likewise, with AVX-512 VNNI and BF16, and permission of the kernel to use tiles, which is asked for here.
bool has_amx_int8();
bool has_amx_bf16();

// True if products of bfloat16 take less time than those of float32: on AMX tiles, or by instructions of AVX-512 on
// processors that are not Intel's, whose VDPBF16PS has half the speed of two multiply-adds.
bool multiplies_bf16_fast();

}  // namespace assay::engine::cpu
