#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace assay::engine::cpu {

// A softmax that is computed block by block of a row.
struct SoftmaxSoFar {
  float greatest;  // of all blocks; at first minus infinity
  float sum;       // of exp(x - greatest)
  float factor;    // of what was summed up before the last block
};

// Loops over rows of float32, for one instruction set.
struct RowKernels {
  const char* name;
  void (*maximum)(float* kept, const float* x, size_t count);  // NaN is greatest
  // The greatest of the elements at one place of some rows, of one at least; NaN is greatest, and the last one stays.
  void (*maxima)(const float* const* x, size_t rows, float* out, size_t count);
  void (*maxima_signed)(const int8_t* const* x, size_t rows, int8_t* out, size_t count);
  void (*maxima_unsigned)(const uint8_t* const* x, size_t rows, uint8_t* out, size_t count);
  // Keeps the places of the greatest elements of some rows: those of another one, `place`, times `sign` are compared
  // with `kept`. NaN is greatest; of equals the first one stays, or the last one.
  void (*keep_places)(const float* x, float sign, int32_t place, bool takes_last, float* kept, int32_t* places,
                      size_t count);
  void (*range)(const float* x, size_t count, float& least, float& greatest);  // widens it
  // Keeps the greatest of the magnitudes; NaN is greatest.
  void (*greatest_size)(const float* x, int64_t row, size_t rows, size_t count, float& kept);
  // The number of numbers up to the last one that is above `bound` or NaN, or a few more.
  size_t (*count_above)(const float* x, size_t count, float bound);
  void (*add)(float* sum, const float* x, size_t rows, size_t count);     // rows that lie side by side, here and below
  void (*scale)(const float* x, float factor, float* out, size_t count);  // `out` may be `x`
  // From and to bfloat16, rounded to the nearest, ties to even.
  void (*widen)(const uint16_t* x, float* out, size_t count);
  void (*narrow)(const float* x, uint16_t* out, size_t count);
  void (*round)(const float* x, float* out, size_t count);          // to what bfloat16 holds; `out` may be `x`
  void (*widen_half)(const uint16_t* x, float* out, size_t count);  // likewise of float16
  void (*narrow_half)(const float* x, uint16_t* out, size_t count);
  // From and to integers; what is narrowed is a whole number of the type's range.
  void (*widen_signed)(const int8_t* x, float* out, size_t count);
  void (*widen_unsigned)(const uint8_t* x, float* out, size_t count);
  void (*narrow_byte)(const float* x, uint8_t* out, size_t count);  // the low byte of the number
  // Elements of three rows in turn.
  void (*interleave3)(const float* const* rows, float* out, size_t count);
  void (*interleave3_halves)(const uint16_t* const* rows, uint16_t* out, size_t count);
  void (*interleave3_bytes)(const uint8_t* const* rows, uint8_t* out, size_t count);
  // exp(x - greatest) / sum; `out` may be `x`.
  void (*softmax)(const float* x, float* out, size_t count);
  void (*log_softmax)(const float* x, float* out, size_t count);  // the logarithm of that
  // Makes the scores of a block exp(x * scale + mask - greatest), or with x / scale; no mask: null. Blocks of which all
  // are minus infinity so far weigh nothing.
  void (*softmax_block)(float* x, const float* mask, size_t count, float scale, bool divides, SoftmaxSoFar& state);
  // q * rows[i] for rows of `depth` numbers.
  void (*dot)(const float* q, const float* rows, int64_t row, size_t depth, size_t count, float* out);
  // (x - mean) / sqrt(variance + epsilon) * scale + shift, without mean and shift where `is_rms`; no scale or shift:
  // null.
  void (*normalize)(const float* x, const float* scale, const float* shift, float* out, size_t count, float epsilon,
                    bool is_rms);
  float (*greatest)(const float* x, size_t count);  // of one element at least; NaN is greatest
  double (*sum)(const float* x, size_t count);
  double (*sum_of_squares)(const float* x, float mean, size_t count);                             // of (x - mean)
  void (*add_squares)(float* sum, const float* x, const float* mean, size_t rows, size_t count);  // no mean: null
  // (x - mean) * factor + shift
  void (*move_and_scale)(const float* x, float mean, float factor, float shift, float* out, size_t count);
  void (*move_and_scale_each)(const float* x, const float* mean, const float* factor, const float* shift, float* out,
                              size_t rows, size_t count);
};

// The best that this processor has.
const RowKernels& row_kernels();
// All that this processor has, for tests.
std::span<const RowKernels* const> all_row_kernels();

}  // namespace assay::engine::cpu
