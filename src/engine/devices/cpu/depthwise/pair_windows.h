#pragma once

#include <cstddef>
#include <cstdint>

namespace assay::engine::cpu {

struct CodeWindowSpan;

// Loops of code_windows.h for AVX2, on words of two columns that are widened to 16 bits; windows have up to three.
bool has_pair_windows(int64_t lines, int64_t columns);
// The bytes that each channel has in a line of weights.
constexpr int64_t kPairWindowBytes = 8;
void pack_pair_windows(const std::byte* weights, int64_t channels, int64_t lines, int64_t columns, std::byte* out);
void run_pair_windows(const CodeWindowSpan& span);

}  // namespace assay::engine::cpu
