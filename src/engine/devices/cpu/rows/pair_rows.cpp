#include "engine/devices/cpu/rows/pair_rows.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "engine/devices/cpu/processor.h"

namespace assay::engine::cpu {

#if defined(__x86_64__)
namespace {

namespace avx512_bf16 {
constexpr size_t kBytes = 64;
#define ASSAY_KERNEL [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16,fma")]]
#include "engine/devices/cpu/rows/pair_rows_body.h"
#undef ASSAY_KERNEL
constexpr PairRows kRows = {interleave, softmax_block, scale_rounded, greatest_size};
}  // namespace avx512_bf16

}  // namespace

const PairRows* pair_rows() { return has_avx512_bf16() ? &avx512_bf16::kRows : nullptr; }
#else
const PairRows* pair_rows() { return nullptr; }
#endif

}  // namespace assay::engine::cpu
