#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/layers/conv_geometry.h"

namespace assay::engine::cpu {

// Rows of codes that lie one after the other.
struct CodeRowsGiven {
  const std::byte* codes = nullptr;
  int64_t rows = 0, depth = 0;
  int64_t row = 0;  // from one to the next
  bool are_signed = false;
  int32_t zero = 0;
};

// The sum of each row's codes less their zero point, by which zero points of weights are multiplied. Uses all threads.
void sum_rows(const CodeRowsGiven& rows, int32_t* out);

// The sums of the codes under each window of a convolution, for each group of channels; what is added around pictures
// counts for nothing.
class WindowSums {
 public:
  explicit WindowSums(const ConvGeometry& geometry) : g_(geometry) {}
  uint64_t workspace_bytes() const;
  int64_t of_group() const { return g_.batch * g_.out_height * g_.out_width; }  // from the sums of one to the next
  // Returns where they lie, by group, then by pixel of the result. Uses all threads.
  const int32_t* run(const std::byte* pictures, bool are_signed, int32_t zero, std::byte* workspace) const;

 private:
  bool are_pixels() const { return g_.kernel_height * g_.kernel_width == 1; }
  int64_t lines() const { return g_.batch * g_.height; }
  void sum_pixels(const std::byte* pictures, bool are_signed, int32_t zero, int32_t* out) const;
  void add_line(const int32_t* pixels, int64_t line, int32_t* out) const;

  ConvGeometry g_;
};

}  // namespace assay::engine::cpu
