#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace assay::engine::cpu {

constexpr float kMostWhole = 2147483520.0F;  // of what fits into 32 bits

// Steps from the sums of a product of integers to what is written.
enum class FinishOp : uint8_t {
  add,         // a number of another tensor times `factor`, and `offset`
  bound,       // least, greatest
  requantise,  // rounded and bounded, times `factor`, and `offset`
  gelu         // within 4e-5 and 2e-5 of the result, times `factor`
};

enum class NumberType : uint8_t { float32, int8, uint8, int32 };

struct FinishStep {
  FinishOp op = FinishOp::bound;
  NumberType type = NumberType::float32;  // of what is added
  const void* added = nullptr;            // of the size of the result
  float factor = 1;
  float offset = 0;
  float least = 0;
  float greatest = 0;
};

// Rows of sums, and what becomes of them: sum * factor + bias by channel, the steps, and numbers, or codes, which are
// rounded to the nearest (ties to even) and saturated after their zero point is added.
struct FinishRows {
  const int32_t* sums = nullptr;
  int64_t sums_row = 0;  // from one to the next
  size_t rows = 1;
  size_t channels = 0;
  const float* factors = nullptr;  // readable up to a multiple of 64 channels, as the bias is
  const float* bias = nullptr;
  const FinishStep* steps = nullptr;
  size_t step_count = 0;
  NumberType type = NumberType::float32;  // of the result; int32: sums as they are
  int32_t zero = 0;                       // of codes
  bool may_overflow = true;               // numbers may be too large for 32 bits
  void* out = nullptr;                    // floats may take the place of the sums
  int64_t first = 0;                      // element of the result; also of what is added, as the next is
  int64_t out_row = 0;                    // from one to the next, in elements
};

// For one instruction set, of all types but int32.
struct FinishKernels {
  const char* name;
  void (*finish)(const FinishRows& rows);
};

// By the best that this processor has.
void finish_rows(const FinishRows& rows);
// All that this processor has, for tests.
std::span<const FinishKernels* const> all_finish_kernels();

}  // namespace assay::engine::cpu
