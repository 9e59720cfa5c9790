#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compare/allowance.h"
#include "tensor/datum.h"

namespace assay::debug {

// Two arrays beside each other, and what may be between them.
struct Difference {
  double greatest = 0;
  double tolerance_there = 0;
  double excess = 0;
  uint64_t failed_count = 0;
  uint64_t count = 0;
};

// What moved roundings allow at least, without a run: of each element, in parts of itself and of the root mean square
// of those that are computed like it; and of the root mean square of all differences, in parts of that of the results.
struct RoughAllowance {
  double own = 0;
  double around = 0;
  double rms = 0;
};

// A value of a side beside what it should be on what the side was given, and beside the truth.
struct Distances {
  double introduced = 0;
  double inherited = 0;
  double total = 0;
  double magnitude = 0;        // of the truth: root of the mean square
  double tolerance_there = 0;  // where `excess` is
  double excess = 0;           // of the rough allowance
};

// All of one shape, in one pass. No truth: a datum without value.
Distances measure_distances(const tensor::Datum& given, const tensor::Datum& exact, const tensor::Datum& truth,
                            const RoughAllowance& rough);

// Judges floats element by element, and by their mean squares, which see what is everywhere and small.
Difference judge_floats(const std::vector<double>& given, const std::vector<double>& exact,
                        const compare::Allowance& allowance);
// Nothing where some other element is off too: whether all that is off is where the exact number is beyond the type, so
// that it leaves the side no choice; and how far off that is. `roundoff`: of the type.
std::optional<Difference> judge_type(const std::vector<double>& given, const std::vector<double>& exact,
                                     tensor::DType dtype, double roundoff);
// Whether all are within a few roundoffs; infinity only where it is expected.
bool are_near(const std::vector<double>& given, const std::vector<double>& exact, double roundoff);
// Whole numbers and booleans are equal, but where the exact ones move when the operands do.
Difference judge_whole(const std::vector<double>& given, const std::vector<double>& exact,
                       const compare::Allowance& allowance);

}  // namespace assay::debug
