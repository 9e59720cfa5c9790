#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace assay::engine::cpu {

// Steps on the scores of an attention of codes before softmax.
enum class ScoreOp : uint8_t {
  add,         // numbers of a mask
  choose,      // `number` where a condition is, or is not, `hidden_where`
  scale,       // times `factor`
  requantise,  // times `unit`, bounded and rounded, times `factor`, and `offset`
};

struct ScoreStep {
  ScoreOp op = ScoreOp::scale;
  const float* added = nullptr;  // of the first row
  const uint8_t* conditions = nullptr;
  int64_t row = 0;  // from one to the next of either
  bool hidden_where = false;
  float number = 0;
  float factor = 1;
  float offset = 0;
  float unit = 1;
  float least = 0;
  float greatest = 0;
};

// Multiples of this many scores are written.
inline constexpr int64_t kWholeScores = 16;

// Rows of sums of products of codes, and what becomes of them: (sum + more) * factor, the steps, softmax, and codes,
// which are rounded to the nearest, ties to even, and bounded.
struct ScoreRows {
  int32_t* sums = nullptr;  // are written over; whole
  int64_t sums_row = 0;     // from one to the next
  size_t rows = 1;
  size_t count = 0;               // of a row
  const int32_t* more = nullptr;  // by row
  float factor = 1;
  const ScoreStep* steps = nullptr;
  size_t step_count = 0;
  float quantum = 1;  // worth of a code
  int32_t zero = 0;   // code
  bool are_signed = false;
  uint8_t* codes = nullptr;   // whole, with rows as far apart
  int32_t* totals = nullptr;  // by row, of the codes less their zero point
};

// For one instruction set.
struct ScoreKernels {
  const char* name;
  void (*weigh)(const ScoreRows& rows);
  void (*shift)(int32_t* sums, size_t count, int32_t more);  // adds it to whole sums
};

// The best that this processor has.
const ScoreKernels& score_kernels();
// All that this processor has, for tests.
std::span<const ScoreKernels* const> all_score_kernels();

}  // namespace assay::engine::cpu
