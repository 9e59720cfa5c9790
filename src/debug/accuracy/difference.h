#pragma once

#include <cstdint>
#include <vector>

#include "tensor/dtype.h"

namespace assay::debug {

// Two arrays beside each other, and what may be between them.
struct Difference {
  double greatest = 0;
  double tolerance_there = 0;
  double excess = 0;
  uint64_t failed_count = 0;
  uint64_t count = 0;
  bool is_of_type = false;  // every failure is where the exact number is beyond the type
};

// Judges floats element by element, and by their mean squares, which see what is everywhere and small.
Difference judge_floats(const std::vector<double>& given, const std::vector<double>& exact,
                        const std::vector<double>& allowed, tensor::DType dtype);
// Whole numbers and booleans are equal, but where the exact ones move when the operands do, and for a few that are one
// step off.
Difference judge_whole(const std::vector<double>& given, const std::vector<double>& exact,
                       const std::vector<double>& allowed, bool comes_from_floats);
double greatest_distance(const std::vector<double>& given, const std::vector<double>& exact);

}  // namespace assay::debug
