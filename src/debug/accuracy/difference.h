#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compare/allowance.h"
#include "tensor/datum.h"

namespace assay::debug {

// Two arrays beside each other, and what may be between them.
struct Difference {
  double tolerance_there = 0;
  double excess = 0;
  uint64_t failed_count = 0;
};

// Judges floats element by element, and by their mean squares, which see what is everywhere and small.
Difference judge_floats(const std::vector<double>& given, const std::vector<double>& exact,
                        const compare::Allowance& allowance);
// Nothing where some other element is off too: whether all that is off is where the exact number is beyond the type, so
// that it leaves the side no choice; and how far off that is. `roundoff`: of the type.
std::optional<Difference> judge_type(const std::vector<double>& given, const std::vector<double>& exact,
                                     tensor::DType dtype, double roundoff);
// True if all numbers are within a few roundoffs; infinity only if it is expected.
bool are_near(const std::vector<double>& given, const std::vector<double>& exact, double roundoff);
// Whole numbers and booleans are equal, but where the exact ones move when the operands do.
Difference judge_whole(const std::vector<double>& given, const std::vector<double>& exact,
                       const compare::Allowance& allowance);

}  // namespace assay::debug
