#pragma once

#include "tensor/tensor.h"

namespace assay::engine::cpu {

// The number of numbers of a type in a word.
inline int64_t numbers_of_word(tensor::DType dtype) {
  if (dtype == tensor::DType::float32) return 1;
  return dtype == tensor::DType::int8 || dtype == tensor::DType::uint8 ? 4 : 2;
}

// Constants [steps * depth, columns] as panels of `width` columns, each row by row. A row is one of words: numbers of
// float32, pairs of bfloat16 that follow each other in a step, or four or two of int8; what a last word has no numbers
// for is 0.
struct WordPanels {
  tensor::DType dtype = tensor::DType::float32;
  int64_t steps = 1, depth = 0, columns = 0;  // in numbers
  // From one number of the constants to the next, in elements.
  int64_t step_stride = 0, depth_stride = 0, column_stride = 0;
  int64_t first_constant = 0;  // in elements
  int64_t width = 1;
  int64_t joined = 1;      // steps that words go on through from one to the next; a divisor of `steps`
  int64_t zeros = 0;       // of the depth: its last numbers, which the constants do not have
  bool are_pairs = false;  // of int8: two are a word, of two bytes
  int64_t unit = 1;  // the last panel has a multiple of so many columns, of which those that are too many are zeros

  int64_t numbers() const { return are_pairs ? 2 : numbers_of_word(dtype); }  // of a word
  int64_t word_bytes() const { return are_pairs ? 2 : 4; }
  int64_t rows() const;
  uint64_t bytes() const;
  void pack(const tensor::Tensor& weights, std::byte* bytes) const;
};

}  // namespace assay::engine::cpu
